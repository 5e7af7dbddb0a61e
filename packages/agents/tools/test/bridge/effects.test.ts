import type { Change } from '@ws/core'
import { type ApprovalRequest } from '@ws/tools'
import { describeEffects, PendingCalls } from '@ws/tools/bridge'
import { describe, expect, it } from 'vitest'

const changesOf = (paths: readonly string[]) => paths.map((path) => ({ kind: 'created', path }) as unknown as Change)

function requestOf(more: object): ApprovalRequest {
  const lists = { changes: [], asked: [], connections: [], leftOut: [] }
  const answer = { isError: false, text: 'done' }
  const { signal } = new AbortController()
  return { tool: 'write', input: {}, call: 1, answer, ...lists, diff: async () => '', signal, ...more }
}

describe('[EF5] the description of effects for a person', () => {
  it('names changes, refusals, hosts and files that were not saved, and escapes them', async () => {
    const request = requestOf({
      changes: changesOf(['/a\u001b[2J', '/b']),
      asked: [
        { rule: 'ask(*.pem)', path: '/k.pem' },
        { rule: 'hosts', host: 'a.test', port: 443 },
      ],
      connections: [{ host: 'b.test', port: 80, outcome: 'allowed' }],
      leftOut: [{ path: '/big', reason: 'is\nlarge' }],
      diff: async () => '--- a\n+++ b\n+\tx\u001b[31m\r\n',
    })
    expect(await describeEffects(request, { diffCharacters: 100 })).toBe(
      [
        '`write` changed these files:',
        'created /a\\u{1b}[2J',
        'created /b',
        'Asked for, and refused by a rule:',
        '  /k.pem (rule ask(*.pem))',
        '  a.test:443 (rule hosts)',
        'Connections, which cannot be taken back:',
        '  b.test: allowed',
        'Not saved, and cannot be taken back:',
        '  /big: is\\u{a}large',
        '',
        '--- a',
        '+++ b',
        '+\tx\\u{1b}[31m\\u{d}',
      ].join('\n'),
    )
  })

  it('has 20 changes, and the diff up to the end of a line', async () => {
    const names = Array.from({ length: 22 }, (_, index) => `/${index}`)
    const diff = async () => 'one\ntwo\nthree\n'
    const text = await describeEffects(requestOf({ changes: changesOf(names), diff }), { diffCharacters: 10 })
    expect(text).toContain('created /19\n[2 more: see the diff]\n\none\ntwo\n[more is different]')
    const short = await describeEffects(requestOf({ changes: changesOf(names), diff }), { diffCharacters: 0 })
    expect(short).not.toContain('one')
    expect(await describeEffects(requestOf({}), { diffCharacters: 10 })).toBe('`write` changed no files')
  })
})

describe('[EF5] calls that wait', () => {
  const keep = { decision: 'keep' } as const

  it('run one at a time, and the first decision counts', async () => {
    const calls = new PendingCalls()
    const decisions: unknown[] = []
    const run = async () => {
      decisions.push(await calls.approve(requestOf({})))
      return { isError: false, text: 'done' }
    }
    const begun = await Promise.all([calls.begin('a', run), calls.begin('b', run)])
    expect(begun).toEqual(['waiting', 'busy'])
    expect((await calls.take('b')).text).toContain('make this call again')
    const waiting = calls.get('a')
    await waiting?.decide({ ...keep, message: 'first' })
    await waiting?.decide({ decision: 'drop' })
    expect(decisions).toEqual([{ ...keep, message: 'first' }])
    expect((await calls.take('a')).text).toBe('done')
    expect((await calls.take('a')).text).toContain('were not shown to a person')
    expect(await calls.begin('c', run)).toBe('waiting')
  })

  it('keep no changes that a framework approved before they were shown', async () => {
    const calls = new PendingCalls()
    const decisions: unknown[] = []
    const run = async () => {
      for (const _ of [1, 2]) decisions.push(await calls.approve(requestOf({})))
      return { isError: false, text: 'done' }
    }
    await calls.begin('a', run)
    const again = await calls.get('a')?.decide({ ...keep, grant: true })
    expect(again).toBe(calls.get('a'))
    await calls.take('a')
    expect(decisions).toEqual([{ ...keep, grant: true }, { decision: 'drop' }])
  })

  it('forget old answers, and pass errors on', async () => {
    const calls = new PendingCalls()
    for (let index = 0; index < 105; index += 1)
      await calls.begin(`${index}`, async () => ({ isError: false, text: `${index}` }))
    expect(calls.has('0')).toBe(false)
    expect((await calls.take('104')).text).toBe('104')
    expect(await calls.begin('x', () => Promise.reject(new Error('aborted')))).toBe('ended')
    await expect(calls.take('x')).rejects.toThrow('aborted')
    expect(() => calls.approve(requestOf({}))).toThrow('did not run in `begin`')
  })
})
