import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isWorkspaceError } from '@ws/core'
import { component, describeWith, rounds } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { modes, namesBelow, needed, Workbench } from './support/workbench.ts'

const exchange = join(import.meta.dirname, 'support/exchange.pl')
const renameat2 = process.arch === 'arm64' ? 276 : 316
/** Starts in `npm test`. */
const starts = { below: 0, warm: 0, direct: 30, 'warm-direct': 0, translated: 0 }

for (const mode of modes) {
  describeWith([...needed[mode], component('perl')], `exchanges during the start (${mode})`, () => {
    let bench: Workbench
    let attacker: ChildProcess | undefined
    beforeEach(async () => {
      bench = await Workbench.create(mode)
    })
    afterEach(async () => {
      if (attacker?.exitCode === null && attacker.signalCode === null) {
        const exited = once(attacker, 'exit')
        attacker.kill('SIGKILL')
        await exited
      }
      await bench[Symbol.asyncDispose]()
    })

    it(`never show what is masked or outside, during the start`, {
      tags: starts[mode] === 0 ? ['deep'] : ['rounds'],
    }, async () => {
      await bench.file(bench.host('dir/secret'), 'hush')
      await bench.file(bench.host('other/secret'), 'harmless')
      await symlink('other', bench.host('link'))
      await bench.directory(bench.host('skills'))
      await bench.file(bench.outside('skills/skill'), 'skill')
      await bench.file(bench.outside('private/skill'), 'private')
      await symlink(bench.outside('private'), bench.outside('link'))
      const parts = [
        { kind: 'mount', at: '/skills', source: bench.outside('skills'), access: 'read-only' },
        { kind: 'pin', at: '/dir' },
        { kind: 'mask', at: '/dir/secret', type: 'file' },
      ] as const
      const pairs = [bench.host('dir'), bench.host('link'), bench.outside('skills'), bench.outside('link')]
      // In step with this machine: bursts of exchanges during a start, however long one takes here.
      const startedAt = performance.now()
      await bench.run('true', { parts })
      const pause = String(Math.round((performance.now() - startedAt) * 300))
      const before = (await namesBelow(bench.scratch.path)).length
      attacker = spawn('/usr/bin/perl', [exchange, String(renameat2), pause, ...pairs], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      if (attacker.stdout !== null) await once(attacker.stdout, 'data')

      const seen = { started: 0, refused: 0 }
      for (const _ of rounds({ quick: starts[mode], seconds: 5 })) {
        try {
          const { stdout } = await bench.run(
            'for i in 1 2 3 4 5; do cat dir/secret link/secret skills/skill; done 2>/dev/null',
            { parts },
          )
          seen.started++
          expect(stdout.replaceAll('harmless', '').replaceAll('skill', '')).toBe('')
        } catch (error) {
          // EIO: what the exchange took away with it was a mask, at which the command was ended.
          if (!isWorkspaceError(error, 'EBUSY') && !isWorkspaceError(error, 'EIO')) throw error
          seen.refused++
        }
      }
      expect(seen.started).toBeGreaterThan(0)
      const exited = once(attacker, 'exit')
      attacker.kill('SIGKILL')
      await exited
      expect((await namesBelow(bench.scratch.path)).length).toBe(before)
    })
  })
}
