/** @module-tag all */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createWorkspace } from '@ws/core'
import { createCheckpoints } from '@ws/snapshots'
import { createScratchDirectory, deep, ordinaryOwner, rounds, seededRandom } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { Tree } from './api.ts'
import { makeFiles, mountsOf } from './disk.ts'
import { makeRuleSet } from './rule-sets.ts'

const seed = Number(process.env['WS_SEED'] ?? (deep ? Math.floor(Math.random() * 2 ** 31) : 20_261_127))

describe('earlier states under rule sets drawn by lot', () => {
  it(`[UN4] show and restore what a slow model says (WS_SEED=${seed})`, { tags: 'rounds' }, async () => {
    console.info(`WS_SEED=${seed}`)
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    await using state = await createScratchDirectory({ prefix: 'ws-state-', owner })
    const checkpoints = createCheckpoints({ stateDirectory: join(state.path, 'kept') })
    for (const index of rounds({ quick: 5, seconds: 15 })) {
      const set = makeRuleSet(seededRandom(seed + index), { forCommands: false })
      await using scratch = await createScratchDirectory({ prefix: 'ws-rules-', owner: ordinaryOwner() })
      const mounts = mountsOf(set, scratch)
      await makeFiles(set, scratch)
      const bytesOf = async (file: string): Promise<string> => readFile(join(scratch.path, 'project', file), 'utf8')
      const tree = new Tree(set)
      const at = (file: string): string => tree.at(file)
      try {
        let id = ''
        {
          await using free = await createWorkspace({ mounts, checkpoints })
          for (const [number, file] of set.files.entries()) await free.write(at(file), `earlier-${number}-`)
          id = (await free.checkpoint()).id
          for (const [number, file] of set.files.entries()) await free.write(at(file), `later-${number}-`)
        }
        await using ruled = await createWorkspace({ mounts, checkpoints, rules: set.written })
        if (tree.expect('', 'read') !== 'allow') continue
        const shown = new Set((await ruled.changes({ since: id })).map(({ path }): string => path))
        const diff = await ruled.diff({ since: id })
        const restored = new Set((await ruled.restore(id)).restored.map(({ path }): string => path))
        for (const [number, file] of set.files.entries()) {
          const isSeen = tree.mayReach(file) && tree.expect(file, 'read') === 'allow'
          const isBack = isSeen && tree.expect(file, 'write') === 'allow'
          expect(`${file} shown: ${shown.has(at(file))}`).toBe(`${file} shown: ${isSeen}`)
          for (const time of ['earlier', 'later'])
            expect(`${file} ${time}: ${diff.includes(`${time}-${number}-`)}`).toBe(`${file} ${time}: ${isSeen}`)
          expect(`${file} restored: ${restored.has(at(file))}`).toBe(`${file} restored: ${isBack}`)
          expect(`${file}: ${await bytesOf(file)}`).toBe(`${file}: ${isBack ? 'earlier' : 'later'}-${number}-`)
        }
      } catch (error) {
        const shown = JSON.stringify({ root: set.root, files: set.files, written: set.written }, undefined, 1)
        expect.fail(`WS_SEED=${seed + index}: ${String(error)}\n${shown}`)
      }
    }
  })
})
