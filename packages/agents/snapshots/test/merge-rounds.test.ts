import { spawnSync } from 'node:child_process'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, type MergeResult, type Workspace } from '@ws/core'
import { createScratchDirectory, rounds } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createCheckpoints } from '../src/index.ts'
import { randomCalls } from './support/random-calls.ts'
import { maxFileBytes, randomCommands } from './support/random-commands.ts'
import { randomOf } from './support/random.ts'
import { filesOf, ownDirectory } from './support/site.ts'
import { treeOf } from './support/tree-of.ts'

type Tree = Record<string, string>

/** Leaves out times, and groups of hard links. */
function plain(tree: Tree, isDisk: boolean, { links = false } = {}): Tree {
  const untimed = (whole: string): string => {
    const facts = links ? whole : whole.replace(/ linked .*$/su, '')
    const [type = '', mode = '', owner = '', ...rest] = facts.split(' ')
    if (!isDisk) return [type, mode, ...rest].join(' ')
    if (type === 'link') return facts.replace(/ [\d.]+$/u, '')
    return [type, mode, owner, ...rest.slice(1)].join(' ')
  }
  return Object.fromEntries(Object.entries(tree).map(([path, facts]) => [path, untimed(facts)]))
}

interface Sides {
  readonly base: Tree
  readonly ours: Tree
  readonly theirs: Tree
  readonly after: Tree
}

/** Each path is ours, theirs, or a named conflict that is ours. */
function expectMerged({ base, ours, theirs, after }: Sides, { conflicts, kept }: MergeResult, name: string): void {
  const named = new Set<string>([...conflicts, ...kept].map(({ path }) => path))
  for (const path of Object.keys({ ...base, ...ours, ...theirs, ...after })) {
    const [then, own, other] = [base[path], ours[path], theirs[path]]
    const isFree = own === then || own === other
    if (!isFree && other !== then) expect([...named], `${name}: both changed ${path}`).toContain(path)
    const wanted = named.has(path) || other === then ? own : other
    expect(after[path], `${name}: ${path}`).toBe(wanted)
  }
}

interface Round {
  readonly name: string
  readonly workspace: Workspace
  readonly fork: Workspace
  readonly look: (workspace: Workspace) => Tree | Promise<Tree>
  readonly edit: (workspace: Workspace, seed: number) => void | Promise<void>
  readonly isDisk: boolean
  readonly seed: number
}

async function check({ name, workspace, fork, look, edit, isDisk, seed }: Round): Promise<void> {
  const random = randomOf(seed)
  const base = await look(workspace)
  const whole = (tree: Tree) => plain(tree, isDisk, { links: true })
  expect(whole(await look(fork)), name).toEqual(whole(base))
  expect(await fork.changes(), name).toEqual([])
  const isAlone = random() < 0.3
  if (!isAlone) await edit(workspace, seed * 5 + 1)
  await edit(fork, seed * 5 + 2)
  const [ours, theirs] = [await look(workspace), await look(fork)]
  const dry = await workspace.merge(fork, { dryRun: true })
  expect(await look(workspace), name).toEqual(ours)
  const result = await workspace.merge(fork)
  const after = await look(workspace)
  const sides = { base, ours, theirs, after }
  const [thenPlain, oursPlain, theirsPlain, afterPlain] = Object.values(sides).map((tree) => plain(tree, isDisk))
  const plains = { base: thenPlain ?? {}, ours: oursPlain ?? {}, theirs: theirsPlain ?? {}, after: afterPlain ?? {} }
  expectMerged(plains, result, name)
  if (isAlone) {
    expect(result, name).toMatchObject({ conflicts: [], kept: [] })
    expect(plains.after, name).toEqual(plains.theirs)
  }
  const { undo, ...told } = result
  expect(told, name).toEqual(dry)
  expect(await look(fork), name).toEqual(theirs)
  expect((await workspace.merge(fork)).merged, name).toEqual([])
  expect((await workspace.restore(undo ?? '')).kept, name).toEqual([])
  expect(await look(workspace), name).toEqual(ours)
}

describe('random merges', { tags: 'rounds' }, () => {
  it('[EF3] in memory: each path is ours, theirs or a named conflict, and the fork stays as it is', async () => {
    const checkpoints = createCheckpoints()
    // the thread stays for as long as one workspace is open
    await using _holder = await createWorkspace({ mounts: [{ at: '/', adapter: createMemoryAdapter() }], checkpoints })
    const edit = (workspace: Workspace, seed: number) => randomCalls(workspace, { seed, count: 12, keepsBits: true })
    for (const seed of rounds({ quick: 25, most: 1_000, seconds: 120 })) {
      const mounts = [{ at: '/', adapter: () => createMemoryAdapter() }]
      await using workspace = await createWorkspace({ mounts, checkpoints })
      await randomCalls(workspace, { seed: seed * 5, count: 25, keepsBits: true })
      await using fork = await workspace.fork()
      await check({ name: `round ${seed}`, workspace, fork, look: filesOf, edit, isDisk: false, seed })
    }
  }, 500_000)

  it('[EF3] of programs on a disk: each path is ours, theirs or a named conflict, and the fork stays as it is', async () => {
    const state = await ownDirectory()
    const checkpoints = createCheckpoints({ stateDirectory: `${state}/kept`, maxFileBytes })
    const unused = await ownDirectory()
    const mounts = [{ at: '/', adapter: () => createLocalAdapter({ root: unused }) }]
    await using _holder = await createWorkspace({ mounts, checkpoints })
    for (const seed of rounds({ quick: 8, most: 1_000, seconds: 360 })) {
      await using root = await createScratchDirectory()
      await using beside = await createScratchDirectory()
      const run = (cwd: string, commands: readonly string[]): void => {
        spawnSync('bash', ['-c', commands.join('\n')], { cwd, ...root.owner, stdio: 'ignore', timeout: 20_000 })
      }
      run(root.path, randomCommands(seed * 5, 25))
      const adapter = () => createLocalAdapter({ root: root.path })
      await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], checkpoints })
      await using fork = await workspace.fork({ directory: beside.path })
      const placeOf = (of: Workspace): string => (of === fork ? beside.path : root.path)
      const edit = (of: Workspace, turn: number): void => run(placeOf(of), randomCommands(turn, 14))
      const look = (of: Workspace) => treeOf(placeOf(of))
      await check({ name: `round ${seed}`, workspace, fork, look, edit, isDisk: true, seed })
    }
  }, 500_000)
})
