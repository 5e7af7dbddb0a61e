import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, type Workspace } from '@ws/core'

import { type Arena, createArena } from './arena.ts'
import { type Counts, noCounts } from './counts.ts'
import { Evidence } from './evidence.ts'
import { type Operation, operations, type Stage } from './operations.ts'
import { Racer, type RaceName } from './racer.ts'
import { Random } from './random.ts'

export interface RaceOptions {
  readonly race: RaceName
  readonly seed: number
  readonly operations?: number | undefined
  /** Milliseconds. The race ends after this time or after `operations`, whichever comes first. */
  readonly duration?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface RaceReport {
  readonly race: RaceName
  readonly counts: ReadonlyMap<string, Counts>
  readonly exchanges: number
  readonly findings: readonly string[]
  readonly duration: number
}

/** Milliseconds after which an operation counts as hanging. */
const patience = 20_000
/** Number of operations of one kind between two checks of the outside tree. */
const batch = 5

/** Races every operation of workspaces over the local adapter, with both engines. */
export async function runRace(options: RaceOptions): Promise<RaceReport> {
  const { race, seed, signal } = options
  const limit = options.operations ?? Infinity
  const began = performance.now()
  const until = began + (options.duration ?? Infinity)
  await warmUp()
  const descriptors = openDescriptors()
  const counts = new Map(operations.map(({ name }) => [name, noCounts()]))
  const rest = noCounts()
  let exchanges = 0
  let findings: readonly string[] = []
  {
    await using arena = await createArena()
    const random = new Random(seed)
    const evidence = new Evidence(arena, rest)
    await using racer = await Racer.start({ race, scratch: arena.scratch, owner: arena.owner, seed })
    const workspaces = [await open(arena, 'auto'), await open(arena, 'async')] as const
    try {
      arena.changes()
      let [done, hung] = [0, 0]
      const isOver = (): boolean => done >= limit || performance.now() >= until || hung >= 3 || signal?.aborted === true
      while (!isOver()) {
        for (const operation of random.shuffled(operations)) {
          evidence.counts = counts.get(operation.name) ?? rest
          const workspace = random.pick(workspaces)
          for (let count = 0; count < batch && !isOver(); count += 1, done += 1) {
            if (!(await runOne(operation, { workspace, arena, random, evidence }))) hung += 1
          }
          recordChanges(arena, evidence)
        }
      }
    } finally {
      for (const workspace of workspaces) await workspace.close()
    }
    evidence.counts = rest
    recordChanges(arena, evidence)
    exchanges = await racer.stop()
    rest.temps = tempFiles(arena.workspace).length
    findings = evidence.findings
  }
  // a child's pipes are closed a moment after its end
  for (let tries = 0; tries < 50 && leftOpen(descriptors).length > 0; tries += 1) await after(10)
  rest.descriptors = leftOpen(descriptors).length
  findings = [...findings, ...leftOpen(descriptors).map((target) => `a descriptor was left open: ${target}`)]
  counts.set('(at the end)', rest)
  return { race, counts, exchanges, findings, duration: performance.now() - began }
}

function recordChanges(arena: Arena, evidence: Evidence): void {
  const changes = arena.changes()
  if (changes === 0) return
  evidence.counts.changes += changes
  evidence.note(`${changes} entries outside were changed`)
  arena.reset()
}

function open(arena: Arena, io: 'auto' | 'async'): Promise<Workspace> {
  return createWorkspace({
    mounts: [
      { at: '/', adapter: () => createLocalAdapter({ root: arena.workspace, owner: arena.owner, io }) },
      { at: '/other', adapter: () => createMemoryAdapter() },
    ],
  })
}

/** Opens descriptors that are opened once and kept, such as those for starting a process: they are no leak. */
async function warmUp(): Promise<void> {
  await using arena = await createArena()
  for (const io of ['auto', 'async'] as const) {
    await using workspace = await open(arena, io)
    for await (const hit of workspace.search('content')) await workspace.read(hit.path)
  }
}

/** Runs one operation. False if it hangs. */
async function runOne(operation: Operation, stage: Stage): Promise<boolean> {
  const { evidence } = stage
  const { counts } = evidence
  counts.operations += 1
  const began = performance.now()
  const timer = Promise.withResolvers<'hangs'>()
  const timeout = setTimeout(timer.resolve, patience, 'hangs')
  try {
    if ((await Promise.race([operation.run(stage), timer.promise])) === 'hangs') {
      counts.hangs += 1
      evidence.note(`${operation.name} took longer than ${patience} ms`)
      return false
    }
    counts.done += 1
  } catch (error) {
    evidence.error(error)
  } finally {
    clearTimeout(timeout)
    counts.milliseconds += performance.now() - began
  }
  return true
}

function tempFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('.ws-tmp-'))
}

function openDescriptors(): Map<string, string> {
  const found = new Map<string, string>()
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      found.set(fd, readlinkSync(`/proc/self/fd/${fd}`))
    } catch {
      // the descriptor of the listing itself
    }
  }
  return found
}

/** A descriptor that `@ws/sandbox` opens with its first search for processes, and keeps in case no other is free. */
const reserve = '/dev/null'

/** Descriptors that are open now and were not before. Numbers are reused, so the targets are compared. */
function leftOpen(before: ReadonlyMap<string, string>): string[] {
  const known = [...before.values(), reserve]
  return [...openDescriptors().values()].filter((target) => {
    const index = known.indexOf(target)
    if (index >= 0) known.splice(index, 1)
    return index < 0
  })
}
