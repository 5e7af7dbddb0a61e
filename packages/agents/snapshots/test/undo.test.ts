/** @module-tag all */
import { spawnSync } from 'node:child_process'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { createScratchDirectory, rounds } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createCheckpoints } from '../src/index.ts'
import { maxFileBytes, randomCommands } from './support/random-commands.ts'
import { pickerOf, randomOf } from './support/random.ts'
import { randomCalls } from './support/random-calls.ts'
import { type Kind, filesOf, shareEngine, siteOf } from './support/site.ts'
import { treeOf } from './support/tree-of.ts'

shareEngine()

describe('random commands on a disk', { tags: 'rounds' }, () => {
  it('[UN1] [UN2] [UN3] are undone, and the undoing is undone: bytes, bits, times, links and empty directories', async () => {
    await using state = await createScratchDirectory({ prefix: 'ws-state-', owner: self() })
    const checkpoints = createCheckpoints({ stateDirectory: `${state.path}/kept`, maxFileBytes })
    // the thread stays for as long as one workspace is open
    await using other = await createScratchDirectory()
    const mounts = [{ at: '/', adapter: () => createLocalAdapter({ root: other.path }) }]
    await using _holder = await createWorkspace({ mounts, checkpoints })
    for (const round of rounds({ quick: 8, most: 1_000, seconds: 20 })) {
      await using root = await createScratchDirectory()
      // an install takes a second
      const programs = { git: round % 4 === 0, builds: round % 20 === 1 }
      const run = (commands: readonly string[]): void => {
        spawnSync('bash', ['-c', commands.join('\n')], {
          cwd: root.path,
          ...root.owner,
          stdio: 'ignore',
          timeout: 20_000,
        })
      }
      await using workspace = await createWorkspace({
        mounts: [{ at: '/', adapter: () => createLocalAdapter({ root: root.path }) }],
        checkpoints,
      })
      run(randomCommands(round * 2, 25, programs))
      const before = treeOf(root.path)
      const { id } = await workspace.checkpoint()
      expect(await workspace.changes({ since: id })).toEqual([])

      run(randomCommands(round * 2 + 1, 15, programs))
      const after = treeOf(root.path)
      const changed = Object.keys({ ...before, ...after }).filter(
        (path) => withoutTimes(before[path]) !== withoutTimes(after[path]),
      )
      const changes = await workspace.changes({ since: id })
      if (changed.length === 0) expect(changes).toEqual([])
      for (const { path } of changes) expect(changed, `round ${round}`).toContain(path)

      const { kept, undo } = await workspace.restore(id)
      expect(kept, `round ${round}`).toEqual([])
      expect(treeOf(root.path), `round ${round}`).toEqual(before)
      expect(await workspace.changes({ since: id })).toEqual([])

      await workspace.restore(undo ?? '')
      expect(treeOf(root.path), `round ${round}`).toEqual(after)
    }
  }, 500_000)
})

describe.each<Kind>(['local', 'memory'])('automatic checkpoints between random calls on %s', (kind) => {
  it('[UN1] [UN3] hold the tree of their time, whatever was restored in between', {
    tags: 'rounds',
    timeout: 120_000,
  }, async () => {
    for (const round of rounds({ quick: 3, seconds: 10 })) {
      const { workspace } = await siteOf({ kind, automatic: true })
      const random = randomOf(round + 1)
      const trees = new Map<string, Record<string, string>>()
      for (let turn = 0; turn < 12; turn += 1) {
        await randomCalls(workspace, { seed: round * 100 + turn, count: 4, keepsBits: true })
        const { id } = await workspace.checkpoint({ automatic: true })
        // where nothing but times of directories has changed, it is the one before
        if (!trees.has(id)) trees.set(id, await filesOf(workspace))
        if (random() < 0.5) continue
        const earlier = pickerOf(random)([...trees.keys()])
        const { kept } = await workspace.restore(earlier)
        expect(kept, `round ${round}, turn ${turn}`).toEqual([])
        expect(await filesOf(workspace), `round ${round}, turn ${turn}`).toEqual(trees.get(earlier))
      }
      await workspace.close()
    }
  })
})

function withoutTimes(facts: string | undefined): string | undefined {
  if (facts === undefined || facts.startsWith('link')) return facts?.split(' ').slice(0, -1).join(' ')
  const [kind, mode, owner, _time, ...rest] = facts.split(' ')
  return [kind, mode, owner, ...(rest[0] === undefined ? [] : rest.slice(0, 2))].join(' ')
}

function self(): { uid: number; gid: number } {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
}
