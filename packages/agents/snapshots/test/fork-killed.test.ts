/** @module-tag all */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { createScratchDirectory, rounds } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createCheckpoints } from '../src/index.ts'
import { randomOf } from './support/random.ts'
import { ownDirectory } from './support/site.ts'
import { treeOf } from './support/tree-of.ts'

const program = fileURLToPath(new URL('support/forking.ts', import.meta.url))

interface Step {
  readonly before: Record<string, string>
  readonly after: Record<string, string>
  readonly directory: string
  readonly mark: string
  readonly isForked?: true
}

/** Runs the program to a random moment, and kills it. Returns its last step. */
async function killed(args: readonly string[], seed: number): Promise<Step> {
  const random = randomOf(seed)
  const words = ['--conditions=@ws/source', program, ...args, String(seed)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let last = ''
  let lines = 0
  const wanted = 1 + Math.floor(random() * 4)
  const { promise, resolve } = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = line
    lines += 1
    if (lines === wanted) resolve()
  })
  await Promise.race([promise, closed])
  await delay(random() * 150)
  child.kill('SIGKILL')
  await closed
  return JSON.parse(last) as Step
}

const withoutTimes = (tree: Record<string, string>): Record<string, string> => {
  const untimed = ([path, facts]: readonly [string, string]) => {
    const shown = facts.replace(/^(directory \d+ \d+:\d+|link to \S+) .*/u, '$1').replace(/ linked .*/u, '')
    return [path, shown.replace(/^(file \d+ \d+:\d+) \S+/u, '$1')] as const
  }
  return Object.fromEntries(Object.entries(tree).map(untimed))
}

/** Temporary copies of a process. */
const copiesOf = (mark: string): string[] =>
  [tmpdir(), '/tmp', '/var/tmp'].flatMap((place) =>
    readdirSync(place).filter((name) => new RegExp(`^ws-scratch-\\w+-${mark}-`, 'u').test(name)),
  )

describe('a process that is killed in a fork or a merge', { tags: 'rounds' }, () => {
  it('[EF3] leaves each file old or new; a merge that is run again ends it, and copies are removed', async () => {
    await using root = await createScratchDirectory()
    const beside = await ownDirectory()
    const stateDirectory = join(await ownDirectory(), 'kept')
    const seen = { forks: 0, merges: 0, again: 0 }
    for (const round of rounds({ quick: 5, most: 100, seconds: 400 })) {
      const { before, after, directory, mark, isForked } = await killed([root.path, beside, stateDirectory], round + 1)
      const open = (at: string) => ({
        mounts: [{ at: '/', adapter: () => createLocalAdapter({ root: at }) }],
        checkpoints,
      })
      const checkpoints = createCheckpoints({ stateDirectory })
      await using workspace = await createWorkspace(open(root.path))
      const [old, wanted, found] = [before, after, treeOf(root.path)].map(withoutTimes)
      for (const path of Object.keys({ ...old, ...wanted, ...found }))
        expect([old?.[path], wanted?.[path]], `round ${round}: ${path}`).toContain(found?.[path])
      seen[isForked === undefined ? 'forks' : 'merges'] += 1
      if (isForked !== undefined && existsSync(directory) && Object.keys(treeOf(directory)).length > 0) {
        await using fork = await createWorkspace(open(directory))
        expect(fork.forkedFrom, `round ${round}`).toBeDefined()
        const complete = JSON.stringify(withoutTimes(treeOf(directory))) === JSON.stringify(wanted)
        if (complete) {
          expect(await workspace.merge(fork), `round ${round}`).toMatchObject({ conflicts: [], kept: [] })
          expect(withoutTimes(treeOf(root.path)), `round ${round}`).toEqual(wanted)
          seen.again += 1
        }
      } else if (existsSync(directory)) {
        // a copy comes to its directory as a whole
        expect(Object.keys(treeOf(directory)), `round ${round}`).toEqual(Object.keys(before))
      }
      await (await workspace.fork()).close()
      expect(copiesOf(mark), `round ${round}`).toEqual([])
      expect(
        readdirSync(beside).filter((name) => name.startsWith('.ws-')),
        `round ${round}`,
      ).toEqual([])
    }
    expect(seen.again).toBeGreaterThan(0)
  }, 600_000)
})
