import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { createRcloneAdapter } from '@ws/adapter-rclone'
import { type StorageAdapter, createWorkspace, parseMountPath } from '@ws/core'
import { component, createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { startCephServer } from '@ws/test-fixtures/s3'

import { type Comparison, type Measurement, type Way, compare, drain, own, repeat } from '../measure.ts'
import { usualRules } from '../site.ts'

type Report = (measurement: Measurement) => void

/** Of the time that the bare mount takes. */
const target = 1.1
const files = 1_000
const treeFiles = 2_000
const content = Buffer.alloc(1_024, 'x')
const section = 'rclone'
const run = promisify(execFile)

/** What one way does with a directory of small files. */
interface Files {
  readonly name: string
  create(path: string): Promise<unknown>
  stat(path: string): Promise<unknown>
  read(path: string): Promise<unknown>
  /** With size and time of each. */
  list(directory: string): Promise<unknown>
  remove(path: string): Promise<unknown>
}

/** The mount with and without this project around it, and a local disk, in one run on one Ceph. */
export async function measureRclone(report: Report): Promise<void> {
  for (const needed of ['radosgw', 'rclone', 'fuse', 'git'] as const) {
    const { available, reason } = component(needed)
    if (!available) throw new Error(`needs ${needed}: ${reason}`)
  }
  await using server = await startCephServer()
  await using scratch = await createScratchDirectory()
  const { endpoint, region, credentials, bucket } = server
  await using adapter = await createRcloneAdapter({
    s3: { endpoint, region, credentials, provider: 'Ceph' },
    bucket,
    prefix: 'threads/t1',
    owner: ordinaryOwner(),
    directory: join(scratch.path, 'state'),
    directoryCacheMs: 600_000,
  })
  const mount = String(adapter.hostPath?.(parseMountPath('/')))
  const disk = join(scratch.path, 'disk')
  for (const directory of [join(mount, 'work'), join(disk, 'work')]) await mkdir(directory, { recursive: true })
  const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], rules: usualRules('/') })
  workspace.on('access', () => undefined)
  const bare = inDirectory('bare mount', mount)
  const ways: Files[] = [
    {
      name: own,
      create: (path) => workspace.write(`/work/${path}`, content),
      stat: (path) => workspace.stat(`/work/${path}`),
      read: (path) => workspace.read(`/work/${path}`),
      list: () => drain(workspace.list('/work', { details: true })),
      remove: (path) => workspace.delete(`/work/${path}`),
    },
    ofAdapter('adapter alone', adapter),
    inDirectory('local disk', disk),
  ]
  for (const comparison of works(bare, ways, () => adapter.flush?.())) report(await compare(section, comparison))
  await workspace.close()
  for (const comparison of await commands(mount, disk, () => adapter.flush?.())) {
    report(await compare(section, comparison))
  }
}

function works(bare: Files, ways: readonly Files[], settle: () => Promise<void> | undefined): Comparison[] {
  let round = 0
  const names = Array.from({ length: files }, (_, index) => `f${index}`)
  const nameOf = (index: number): string => names[index % files] ?? ''
  const one = (name: string, of: (way: Files) => Way['run'], before?: (way: Files) => Promise<unknown>): Comparison => {
    const wayOf = (way: Files): Way => ({
      name: way.name,
      run: of(way),
      before: async () => {
        await before?.(way)
        await settle() // no upload of the last round runs beside this one
      },
    })
    return {
      name,
      reference: wayOf(bare),
      ways: ways.map(wayOf),
      count: files / 5,
      target,
      budget: 8_000,
      maxRounds: 8,
    }
  }
  const fill = async (way: Files): Promise<void> => {
    for (const name of names) await way.create(name)
  }
  const seen = new Set<Files>()
  const filled = async (way: Files): Promise<void> => {
    if (seen.has(way)) return
    seen.add(way)
    await fill(way)
  }
  const fresh = new Map<Files, string[]>()
  return [
    one('create a file of 1 KiB', (way) => {
      return repeat((index) => way.create(`new-${way.name.replaceAll(' ', '-')}-${(round += 1)}-${index}`))
    }),
    one('stat a file', (way) => repeat((index) => way.stat(nameOf(index))), filled),
    one('read a file of 1 KiB', (way) => repeat((index) => way.read(nameOf(index))), filled),
    {
      ...one('list with size and time', (way) => repeat(() => way.list('')), filled),
      count: 2,
    },
    one(
      'delete a file',
      (way) => repeat(() => way.remove(fresh.get(way)?.pop() ?? '')),
      async (way) => {
        const made = Array.from({ length: files / 5 }, () => `gone-${way.name.replaceAll(' ', '-')}-${(round += 1)}`)
        for (const name of made) await way.create(name)
        fresh.set(way, made)
      },
    ),
  ]
}

/** `git status` and `grep -r` over a tree, run by this process itself: executors have figures of their own. */
async function commands(mount: string, disk: string, settle: () => Promise<void> | undefined): Promise<Comparison[]> {
  for (const place of [mount, disk]) await makeTree(join(place, 'tree'))
  await settle()
  const inTree = (name: string, place: string, argv: readonly [string, ...string[]]): Way => ({
    name,
    run: repeat(async () => {
      const [program, ...args] = argv
      await run(program, args, { cwd: join(place, 'tree') }).catch((error: { code?: unknown }) => {
        if (error.code !== 1) throw error // grep found nothing
      })
    }),
  })
  return (
    [
      ['git status', ['git', '-c', 'safe.directory=*', 'status', '--porcelain']],
      ['grep -r', ['grep', '-r', 'not to be found', '.']],
    ] as const
  ).map(([name, argv]) => ({
    name: `${name}, ${treeFiles} files`,
    reference: inTree('local disk', disk, argv),
    ways: [inTree('bare mount', mount, argv)],
    count: 1,
    budget: 10_000,
  }))
}

async function makeTree(root: string): Promise<void> {
  for (let directory = 0; directory < 20; directory += 1) {
    await mkdir(join(root, `d${directory}`), { recursive: true })
    for (let file = 0; file < treeFiles / 20; file += 1) await writeFile(join(root, `d${directory}/f${file}`), content)
  }
  const git = (...args: string[]) => run('git', ['-c', 'safe.directory=*', ...args], { cwd: root })
  await git('init', '-q')
  await git('add', '-A')
}

function inDirectory(name: string, root: string): Files {
  const at = (path: string): string => join(root, 'work', path)
  return {
    name,
    create: (path) => writeFile(at(path), content),
    stat: (path) => stat(at(path)),
    read: (path) => readFile(at(path)),
    async list() {
      for (const entry of await readdir(at(''))) await stat(at(entry))
    },
    remove: (path) => unlink(at(path)),
  }
}

function ofAdapter(name: string, adapter: StorageAdapter): Files {
  const at = (path: string) => parseMountPath(`/work/${path}`)
  return {
    name,
    create: (path) => adapter.write(at(path), content),
    stat: (path) => adapter.stat(at(path)),
    read: (path) => adapter.read(at(path)),
    list: () => drain(adapter.list(parseMountPath('/work'), { details: true })),
    remove: (path) => adapter.delete(at(path)),
  }
}
