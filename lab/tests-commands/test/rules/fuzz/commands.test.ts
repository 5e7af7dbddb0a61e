import { readdir } from 'node:fs/promises'
import { isWorkspaceError } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import {
  component,
  createScratchDirectory,
  describeWith,
  ordinaryOwner,
  deep,
  rounds,
  seededRandom,
} from '@ws/test-fixtures'
import { expect, it } from 'vitest'
import { compareWithCommand } from './commands.ts'
import { openOnDisk } from './disk.ts'
import { answer } from './model.ts'
import { makeRuleSet } from './rule-sets.ts'

const seed = Number(process.env['WS_SEED'] ?? (deep ? Math.floor(Math.random() * 2 ** 31) : 20_261_124))

for (const form of ['auto', 'translated'] as const)
  describeWith([component('bubblewrap'), component('proot')], `rule sets drawn by lot, in bubblewrap (${form})`, () => {
    it(`[RU1, RU2, RU4] mean in commands what a slow model says (WS_SEED=${seed})`, {
      tags: form === 'auto' ? 'rounds' : 'deep',
    }, async () => {
      console.info(`WS_SEED=${seed}`)
      const executor = createBubblewrapExecutor({ root: form })
      for (const index of rounds({ quick: 6, seconds: 10 })) {
        const set = makeRuleSet(seededRandom(seed + index), { forCommands: true })
        await using scratch = await createScratchDirectory({ prefix: 'ws-rules-', owner: ordinaryOwner() })
        const workspace = await openOnDisk(set, scratch, executor)
        try {
          const before = await readdir(scratch.path, { recursive: true })
          const told = await workspace.explain({ operation: 'exec', path: '' })
          if (told.code === 'EACCES' && answer(set, set.root === '/' ? [] : ['workspace'], 'read') === 'EACCES') {
            // Nothing is left open in which a command could start.
            await expect(workspace.exec('true')).rejects.toMatchObject({ code: 'EACCES', rule: told.rule })
            continue
          }
          await compareWithCommand(set, workspace)
          expect(told.code, 'what explain says').toBeUndefined()
          // A place that a rule opens for writing is made; nothing else is left.
          const places = set.rules.flatMap((rule) =>
            rule.kind === 'entries' ? rule.entries : rule.kind === 'exception' ? [rule.entry] : [],
          )
          const opened = places.map(({ at }) => ['project', ...at.slice(set.root === '/' ? 0 : 1)].join('/'))
          const left = (await readdir(scratch.path, { recursive: true })).filter((path) => !before.includes(path))
          expect(
            left.filter((path) => !opened.includes(path)),
            'what is left',
          ).toEqual([])
        } catch (error) {
          const shown = JSON.stringify(
            { root: set.root, files: set.files, mounted: set.mounted, written: set.written },
            undefined,
            1,
          )
          expect.fail(`WS_SEED=${seed + index}: ${isWorkspaceError(error) ? error.message : String(error)}\n${shown}`)
        } finally {
          await workspace.close()
        }
      }
    })
  })
