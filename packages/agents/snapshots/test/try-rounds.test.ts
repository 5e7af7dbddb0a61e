import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path/posix'

import { createLocalAdapter } from '@ws/adapter-local'
import {
  createWorkspace,
  type Change,
  type CheckpointEngine,
  type RestoreResult,
  type Try,
  type Workspace,
} from '@ws/core'
import { createScratchDirectory, itWith, rounds } from '@ws/test-fixtures'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

import { type CheckpointsOptions, createCheckpoints } from '../src/index.ts'
import { randomCalls } from './support/random-calls.ts'
import { maxFileBytes, randomCommands } from './support/random-commands.ts'
import { randomOf } from './support/random.ts'
import { filesOf, ownDirectory, storeOf } from './support/site.ts'
import { treeOf } from './support/tree-of.ts'

/** An engine whose thread stays for the whole test. */
async function engineOf(options: CheckpointsOptions): Promise<CheckpointEngine> {
  const checkpoints = createCheckpoints({ ...options, stateDirectory: `${await ownDirectory()}/kept` })
  const root = await ownDirectory()
  const holder = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createLocalAdapter({ root }) }],
    checkpoints,
  })
  onTestFinished(() => holder.close())
  return checkpoints
}

type Tree = Record<string, string>

/** Some of the changed paths, and how a tree is then: those of after the try where one was kept, else those of before. */
function someOf({ changes }: Try<unknown>, random: () => number, { before, after }: { before: Tree; after: Tree }) {
  const chosen = changes.filter(() => random() < 0.4).map(({ path, from }) => (random() < 0.5 ? path : (from ?? path)))
  const kept = new Set<string>()
  const keep = (path: string): void => {
    for (const one of Object.keys({ ...before, ...after }))
      if (one === path || one.startsWith(`${path}/`)) kept.add(one)
  }
  for (const path of chosen) keep(path)
  const together = [...changes.map(namesOf), ...linksOf(after)]
  for (let size = -1; size !== kept.size; ) {
    size = kept.size
    for (const names of together) if (names.some((name) => kept.has(name))) for (const name of names) keep(name)
  }
  for (const path of [...kept]) {
    if (after[path] === undefined) continue
    for (let at = dirname(path); at !== '/' && !before[at]?.startsWith('directory'); at = dirname(at)) kept.add(at)
  }
  const expected: Tree = {}
  for (const path of Object.keys({ ...before, ...after })) {
    const facts = kept.has(path) ? after[path] : before[path]
    if (facts !== undefined) expected[path] = facts
  }
  return { chosen, expected, made: [...kept].filter((path) => after[path]?.startsWith('directory')) }
}

function namesOf({ path, from }: Change): string[] {
  return from === undefined ? [path] : [path, from]
}

/** Groups of hard links. Names hold blanks: each begins with a slash. */
function linksOf(tree: Tree): string[][] {
  return Object.values(tree).map((facts) => (/ linked (.*)$/su.exec(facts)?.[1] ?? '').split(/ (?=\/)/u))
}

/** Leaves out the times of directories that were made: they change when entries are taken out. Compares links by content alone. */
function comparable(tree: Tree, made: readonly string[]): Tree {
  return Object.fromEntries(
    Object.entries(tree).map(([path, facts]) => {
      const plain = facts.replace(/ linked .*$/su, '')
      return [
        path,
        made.includes(path)
          ? plain
              .split(' ')
              .slice(0, 3)
              .join(' ')
              .replace(/ \d+(?:\.\d+)? ?$/u, '')
          : plain,
      ]
    }),
  )
}

/** Paths that could not be taken back. A store can hold entries that no path can name, so that none can change them. */
function undone({ kept }: RestoreResult): RestoreResult['kept'] {
  return kept.filter(({ reason }) => !reason.endsWith('no path can name it'))
}

async function check(
  workspace: Workspace,
  look: () => Promise<Tree> | Tree,
  { act, random, name }: { act: () => Promise<unknown>; random: () => number; name: string },
): Promise<void> {
  const before = await look()
  const attempt = await workspace.try(async (view) => void (await act.call(view)), { exclusive: true })
  const after = await look()
  if (random() < 0.5) {
    expect(undone(await attempt.drop()), name).toEqual([])
    expect(await look(), name).toEqual(before)
    return
  }
  const { chosen, expected, made } = someOf(attempt, random, { before, after })
  const left = undone(await attempt.keep(chosen))
  const found = await look()
  for (const { path } of left) {
    // in a bucket, a file reappears that a directory has hidden: its last entry was taken out
    expect([before[path]?.split(' ')[0], found[path]?.split(' ')[0]], `${name}: ${path}`).toEqual(['directory', 'file'])
    delete expected[path]
    delete found[path]
  }
  expect(comparable(found, made), `${name}: ${chosen.join(' ')}`).toEqual(comparable(expected, made))
}

describe('random tries', { tags: 'rounds' }, () => {
  it('[UN2] [UN3] of programs on a disk: after drop the tree is the one before, after keep only the kept paths differ', async () => {
    const checkpoints = await engineOf({ maxFileBytes })
    for (const round of rounds({ quick: 6, most: 1_000, seconds: 360 })) {
      await using root = await createScratchDirectory()
      const run = (commands: readonly string[]): void => {
        const place = { cwd: root.path, ...root.owner }
        spawnSync('bash', ['-c', commands.join('\n')], { ...place, stdio: 'ignore', timeout: 20_000 })
      }
      await using workspace = await createWorkspace({
        mounts: [{ at: '/', adapter: () => createLocalAdapter({ root: root.path }) }],
        checkpoints,
      })
      const random = randomOf(round + 1)
      run(randomCommands(round * 3, 20))
      for (let turn = 1; turn < 3; turn += 1) {
        const act = async (): Promise<void> => run(randomCommands(round * 3 + turn, 12))
        await check(workspace, () => treeOf(root.path), { act, random, name: `round ${round}.${turn}` })
      }
    }
  }, 500_000)

  for (const [kind, quick] of [
    ['memory', 10],
    ['ceph', 1],
    ['r2', 1],
  ] as const) {
    const needs = kind === 'memory' ? [] : s3Needs(kind)
    itWith(
      needs,
      `[UN2] [UN3] of calls in ${kind}: after drop the tree is the one before, after keep only the kept paths differ`,
      async () => {
        const checkpoints = await engineOf({})
        for (const round of rounds({ quick, most: 1_000, seconds: 60 })) {
          const adapter = await storeOf(kind)
          await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], checkpoints })
          const { utimes: keepsBits } = adapter.capabilities
          const random = randomOf(round + 1)
          await randomCalls(workspace, { seed: round * 3, count: 20, keepsBits })
          for (let turn = 1; turn < 3; turn += 1) {
            const seed = round * 3 + turn
            async function act(this: Workspace): Promise<void> {
              await randomCalls(this, { seed, count: 12, keepsBits })
            }
            await check(workspace, () => filesOf(workspace), { act, random, name: `round ${round}.${turn}` })
          }
        }
      },
      { timeout: 500_000 },
    )
  }
})
