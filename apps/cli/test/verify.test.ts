/** @module-tag all */
import { readdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'

import { component, componentNames, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { end, startMain, startWs, ws } from './ws.ts'

interface VerifyResult {
  readonly ok: boolean
  readonly summary: Record<string, number>
  readonly results: readonly {
    check: { group: string; title: string }
    executor: string
    at: string
    status: string
    note?: string
  }[]
}

const scratchDirectories = async () =>
  (await readdir(await realpath(tmpdir()))).filter((name) => name.startsWith('ws-check-'))

const needed = componentNames.filter((name) => ['bubblewrap', 'python3', 'node', 'git'].includes(name)).map(component)
// the kit, once more: `npm test` has it in the packages of the executors, and here with the virtual one
describeWith(needed, 'ws verify with bubblewrap', { tags: ['deep'] }, () => {
  it('[PC18] [PC19] [PC12] [RP6] [RP17] [RP18] every check passes or is refused as declared; nothing is left behind', async () => {
    const before = await scratchDirectories()
    const { code, stdout, stderr } = await ws(['--json', '--executor', 'bubblewrap', 'verify'])
    expect(stderr).toBe('')
    const report = JSON.parse(stdout) as VerifyResult
    expect(report.results.filter(({ status }) => status === 'failed' || status === 'skipped')).toEqual([])
    // one table holds what the kit asks of workspaces and of executors
    const groups = new Set(report.results.map(({ check }) => check.group))
    for (const group of ['the same files', 'programs', 'a denied subtree', 'guarantees', 'ends']) {
      expect(groups).toContain(group)
    }
    const refused = report.results.filter(({ status }) => status === 'refused').map(({ note }) => note)
    // rules that only the file API can judge are held by no process
    expect(new Set(refused)).toEqual(new Set(['guarantee apiRules: none']))
    expect(report.ok).toBe(true)
    expect(code).toBe(0)
    expect(new Set(report.results.map(({ at }) => at))).toEqual(new Set(['/', '/workspace']))
    expect((await scratchDirectories()).filter((name) => !before.includes(name))).toEqual([])
  })
})

describe('ws verify', () => {
  it('shows on a terminal how far it is, on standard error', async () => {
    const running = startMain(['--executor', 'virtual', 'verify'], { terminals: ['stderr'] })
    const shown = Promise.withResolvers<void>()
    running.stderr.on(
      'data',
      (chunk: Buffer) => /checking: \d+ s, \d+ done$/u.test(chunk.toString()) && shown.resolve(),
    )
    await shown.promise
    running.kill('SIGINT')
    const { code, stdout, stderr } = await running.ended
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
    expect(stderr.endsWith('\r\u001b[K')).toBe(true)
  })

  it('leaves nothing behind after Ctrl-C', async () => {
    const before = await scratchDirectories()
    const child = startWs(['verify'])
    const ended = end(child)
    await expect.poll(async () => (await scratchDirectories()).length).toBeGreaterThan(before.length)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 130, stderr: '' })
    expect((await scratchDirectories()).filter((name) => !before.includes(name))).toEqual([])
  })
})

describe('ws doctor', () => {
  it('[PC13] says for each executor what is held, and what to do about the rest', async () => {
    const { code, stdout } = await ws(['--json', 'doctor'])
    const report = JSON.parse(stdout) as {
      executors: {
        executor: string
        at: string
        available: boolean
        guarantees: object
        missing: string[]
        howToFix: string[]
      }[]
    }
    expect(report.executors.map(({ executor, at }) => `${executor} ${at}`)).toEqual([
      'bubblewrap /',
      'bubblewrap /workspace',
      'proot /',
      'proot /workspace',
      'sanitize /',
      'sanitize /workspace',
    ])
    for (const { available, missing, howToFix } of report.executors) {
      if (!available) expect(Math.min(missing.length, howToFix.length)).toBeGreaterThan(0)
    }
    const usable = report.executors.some(({ executor, available }) => executor !== 'sanitize' && available)
    expect(code).toBe(usable ? 0 : 1)
  })
})
