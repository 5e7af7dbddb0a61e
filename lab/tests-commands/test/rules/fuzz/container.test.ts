/** @module-tag all */
import { readdir } from 'node:fs/promises'

import { isWorkspaceError } from '@ws/core'
import { createContainerExecutor } from '@ws/executor-machine/container'
import { component, createScratchDirectory, describeWith, openEngine, rounds, seededRandom } from '@ws/test-fixtures'
import { afterAll, expect, it } from 'vitest'

import { compareWithCommand } from './commands.ts'
import { openOnDisk } from './disk.ts'
import { answer } from './model.ts'
import { makeRuleSet } from './rule-sets.ts'

const seed = Number(process.env['WS_SEED'] ?? 20_261_130)

describeWith([component('dockerd')], 'rule sets drawn by lot, in containers', async () => {
  const engine = await openEngine()
  afterAll(() => engine[Symbol.asyncDispose]())

  it(`[RU1, RU2, RU4] mean in commands what a slow model says (WS_SEED=${seed})`, { timeout: 300_000 }, async () => {
    const executor = createContainerExecutor({ engine: engine.address, image: engine.image })
    let tried = 0
    for (const index of rounds({ quick: 24, seconds: 60 })) {
      const set = makeRuleSet(seededRandom(seed + index), { forCommands: true })
      if (set.root === '/') continue
      tried++
      await using scratch = await createScratchDirectory({ prefix: 'ws-rules-' })
      const workspace = await openOnDisk(set, scratch, executor)
      try {
        const before = await readdir(scratch.path, { recursive: true })
        const told = await workspace.explain({ operation: 'exec', path: '' })
        if (told.code === 'EACCES' && answer(set, ['workspace'], 'read') === 'EACCES') {
          await expect(workspace.exec('true')).rejects.toMatchObject({ code: 'EACCES', rule: told.rule })
          continue
        }
        await compareWithCommand(set, workspace)
        // reserved names go with the container
        await workspace.close()
        const left = (await readdir(scratch.path, { recursive: true })).filter((path) => !before.includes(path))
        const places = set.rules.flatMap((rule) =>
          rule.kind === 'entries' ? rule.entries : rule.kind === 'exception' ? [rule.entry] : [],
        )
        const opened = places.map(({ at }) => ['project', ...at.slice(1)].join('/'))
        expect(left.filter((path) => !opened.includes(path))).toEqual([])
      } catch (error) {
        const shown = JSON.stringify({ files: set.files, mounted: set.mounted, written: set.written }, undefined, 1)
        expect.fail(`WS_SEED=${seed + index}: ${isWorkspaceError(error) ? error.message : String(error)}\n${shown}`)
      } finally {
        await workspace.close()
      }
    }
    expect(tried).toBeGreaterThan(5)
    console.info(`${tried} rule sets`)
  })
})
