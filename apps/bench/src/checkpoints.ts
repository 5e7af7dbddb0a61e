import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createCheckpoints } from '@ws/snapshots'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'

import { compare, type Figures, type Measurement, own } from './measure.ts'

const section = 'checkpoints'
const directories = 100
const filesInEach = 100
const turns = 1_000
const run = promisify(execFile)

interface Place {
  readonly root: string
  readonly state: string
  open(automatic?: boolean): Promise<Workspace>
}

/** Measures checkpoints of 10,000 files beside git. */
export async function measureCheckpoints(report: (measurement: Measurement) => void): Promise<void> {
  const owner = ordinaryOwner()
  await using scratch = await createScratchDirectory({ owner })
  const root = join(scratch.path, 'root')
  makeFiles(root)
  // commands run as that user
  if (owner !== undefined) await run('chown', ['-R', `${owner.uid}:${owner.gid}`, root])
  const state = join(scratch.path, 'state')
  const open = (automatic = false): Promise<Workspace> =>
    createWorkspace({
      mounts: [{ at: '/', adapter: () => createLocalAdapter({ root, owner }) }],
      executors: automatic ? [createBubblewrapExecutor()] : [],
      checkpoints: createCheckpoints({ stateDirectory: state, automatic }),
    })
  const place = { root, state, open }
  report(await firstCheckpoint(place))
  report(await unchangedCheckpoint(place))
  report(await restoredFiles(place))
  report(await waitForAutomatic(place))
  report(await diskUse(place))
}

function makeFiles(root: string): void {
  for (let directory = 0; directory < directories; directory += 1) {
    mkdirSync(join(root, `d${directory}`), { recursive: true })
    for (let file = 0; file < filesInEach; file += 1) write(root, directory, file, 'first')
  }
}

/** Some 2.7 KB, as sources have. */
function write(root: string, directory: number, file: number, text: string): void {
  const line = `${text} ${directory} ${file} of a file like others\n`
  writeFileSync(join(root, `d${directory}`, `f${file}.txt`), line.repeat(20 + ((directory * 37 + file * 11) % 120)))
}

const git = (root: string, ...args: string[]): Promise<unknown> =>
  run('git', ['-c', 'gc.auto=0', '-c', 'safe.directory=*', '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], {
    cwd: root,
  })

async function firstCheckpoint({ root, state, open }: Place): Promise<Measurement> {
  let workspace: Workspace | undefined
  const fresh = async (): Promise<void> => {
    await workspace?.close()
    rmSync(join(root, '.git'), { recursive: true, force: true })
    rmSync(state, { recursive: true, force: true })
  }
  const measured = await compare(section, {
    name: `first checkpoint of ${directories * filesInEach} files`,
    count: 1,
    target: 0.5,
    maxRounds: 5,
    budget: 30_000,
    reference: {
      name: 'git init, git add -A',
      before: fresh,
      run: async () => {
        await git(root, 'init', '-q')
        await git(root, 'add', '-A')
      },
    },
    ways: [
      {
        name: own,
        before: async () => {
          await fresh()
          workspace = await open()
        },
        run: async () => workspace?.checkpoint(),
      },
    ],
  })
  await fresh()
  return measured
}

async function unchangedCheckpoint({ root, open }: Place): Promise<Measurement> {
  await using workspace = await open()
  await workspace.checkpoint()
  await new Promise((resolve) => setTimeout(resolve, 150)) // those that were just written are read once more
  await workspace.checkpoint()
  return await compare(section, {
    name: 'checkpoint of an unchanged tree',
    count: 1,
    target: 1.5,
    reference: {
      name: 'find -printf',
      run: () => run('find', [root, '-printf', '%p %i %s %T@ %m\n'], { maxBuffer: 1e8 }),
    },
    ways: [{ name: own, run: () => workspace.checkpoint() }],
  })
}

async function restoredFiles(place: Place): Promise<Measurement> {
  const { root, open } = place
  const inShadow = await makeShadow(place)
  await inShadow('add', '-A')
  await inShadow('commit', '-qm', 'x')
  await using workspace = await open()
  const { id } = await workspace.checkpoint()
  let turn = 0
  const change = async (): Promise<void> => {
    turn += 1
    for (let directory = 0; directory < 100; directory += 1) write(root, directory, directory, `changed ${turn}`)
  }
  return await compare(section, {
    name: 'restore of 100 files',
    count: 1,
    target: 2,
    maxRounds: 10,
    reference: { name: 'git checkout', before: change, run: () => inShadow('checkout', '-q', '--', '.') },
    ways: [{ name: own, before: change, run: () => workspace.restore(id) }],
  })
}

/** A repository outside of the tree, as others keep their checkpoints. Each call makes it anew. */
async function makeShadow({ root, state }: Place): Promise<(...args: string[]) => Promise<unknown>> {
  const shadow = shadowOf(state)
  rmSync(shadow, { recursive: true, force: true })
  await run('git', ['init', '-q', '--bare', shadow])
  return (...args) => git(root, `--git-dir=${shadow}`, `--work-tree=${root}`, ...args)
}

function shadowOf(state: string): string {
  return join(state, '..', 'shadow.git')
}

/** An automatic checkpoint as a command meets it: after a call that has changed a file, and right after another command. */
async function waitForAutomatic({ open }: Place): Promise<Measurement> {
  await using workspace = await open(true)
  await workspace.checkpoint({ automatic: true })
  const waits = { call: [] as number[], command: [] as number[] }
  const busy: number[] = []
  const wait = async (): Promise<number> => {
    const start = performance.now()
    await workspace.checkpoint({ automatic: true })
    return performance.now() - start
  }
  for (let turn = 0; turn < 30; turn += 1) {
    await workspace.write(`/d${turn}/f0.txt`, `turn ${turn}`)
    const used = process.threadCpuUsage()
    waits.call.push(await wait())
    const { user, system } = process.threadCpuUsage(used)
    busy.push((user + system) / 1_000)
    await workspace.exec(`echo ${turn} > d${turn}/f1.txt`)
    waits.command.push(await wait())
  }
  const figures = [
    figuresOf(own, waits.call),
    figuresOf('right after a command', waits.command),
    figuresOf('of them on the host thread', busy),
  ]
  return { section, name: 'wait for an automatic checkpoint', against: 'ms', target: 30, figures }
}

function figuresOf(way: string, values: readonly number[]): Figures {
  const sorted = [...values].sort((left, right) => left - right)
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
  return { way, median: at(0.5), min: at(0), max: at(1), samples: sorted.length }
}

async function diskUse(place: Place): Promise<Measurement> {
  const { root, state, open } = place
  rmSync(state, { recursive: true, force: true })
  const inShadow = await makeShadow(place)
  await using workspace = await open()
  await workspace.checkpoint()
  await inShadow('add', '-A')
  for (let turn = 0; turn < turns; turn += 1) {
    write(root, turn % directories, turn % 7, `turn ${turn}`)
    await workspace.checkpoint()
    if (turn % 10 !== 0) continue
    await inShadow('add', '-A')
    await inShadow('commit', '-qm', String(turn), '--allow-empty')
  }
  const kilobytes = (directory: string): number =>
    readdirSync(directory, { recursive: true, encoding: 'utf8' }).reduce(
      (sum, name) => sum + statSync(join(directory, name)).size / 1_024,
      0,
    )
  const figure = (way: string, value: number): Figures => ({ way, median: value, min: value, max: value, samples: 1 })
  return {
    section,
    name: `disk use after ${turns} small edits`,
    against: 'KB',
    figures: [figure(own, kilobytes(state)), figure('shadow git, each tenth edit', kilobytes(shadowOf(state)))],
  }
}
