import { type AccessEvent, isWorkspaceError, rules, type Workspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { codeOf } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { openMemory } from '../../src/index.ts'

function listen(workspace: Workspace): AccessEvent[] {
  const events: AccessEvent[] = []
  workspace.on('access', (event) => events.push(event))
  return events
}

const virtual = { executors: [createVirtualExecutor()] }

describe('labels', () => {
  it('[RU9] stand in every event of both doors, whatever the outcome', async () => {
    const labels = { thread: 't-1', user: 'u-2' }
    const { workspace } = await openMemory({ '/': { '/a': 'x' } }, { ...virtual, labels, rules: [rules.deny('/no')] })
    const events = listen(workspace)
    await workspace.readText('/a')
    await codeOf(workspace.readText('/no'))
    await codeOf(workspace.readText('/missing'))
    await codeOf(workspace.readText('/a', { signal: AbortSignal.abort() }))
    for await (const entry of workspace.list('/')) void entry
    for await (const hit of workspace.search('x')) void hit
    await workspace.exec('echo hi')
    await codeOf(workspace.exec('   '))
    await codeOf(workspace.openSession())
    expect(new Set(events.map(({ operation }) => operation))).toEqual(
      new Set(['read', 'list', 'search', 'exec', 'openSession']),
    )
    for (const event of events) expect(event.labels).toEqual(labels)
  })

  it('[RU9] are a copy, and empty where none were given', async () => {
    const labels = { thread: 't-1' }
    const first = await openMemory({ '/': {} }, { labels })
    labels.thread = 'changed'
    const second = await openMemory({ '/': {} })
    for (const [{ workspace }, expected] of [
      [first, { thread: 't-1' }],
      [second, {}],
    ] as const) {
      const events = listen(workspace)
      await workspace.stat('/')
      expect(events[0]?.labels).toEqual(expected)
      expect(Object.isFrozen(events[0]?.labels)).toBe(true)
    }
  })

  it.each([
    ['a list', ['t-1'], '`labels` must be an object'],
    ['null', null, '`labels` must be an object'],
    ['a text', 't-1', '`labels` must be an object'],
    ['a value that is a number', { thread: 7 }, '`labels.thread` must be a string'],
    ['a value that is too long', { thread: 'x'.repeat(257) }, '`labels.thread` must be a string of at most 256'],
    ['a lone surrogate', { thread: '\ud800' }, '`labels.thread` must be a string'],
    ['a name with a blank', { 'a b': 'x' }, 'names in `labels` must'],
    ['a name that is too long', { ['x'.repeat(65)]: 'x' }, 'names in `labels` must'],
    [
      'too many',
      Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`l${n}`, ''])),
      '`labels` must be an object with at most 32 strings',
    ],
  ])('[RU9] refuse %s', async (_, labels, reason) => {
    const opening = openMemory({ '/': {} }, { labels: labels as never })
    await expect(opening).rejects.toMatchObject({ code: 'EINVAL', message: expect.stringContaining(reason) })
  })
})

describe('an event of a command', () => {
  it('[RU9] tells how it ended, how much it printed, and the rules that it ran without', async () => {
    const limited = [rules.maxFileSize(100, { name: 'maxFileSize' })]
    const { workspace } = await openMemory({ '/': {} }, { ...virtual, rules: limited })
    const events = listen(workspace)
    await workspace.exec('printf 12345; printf 678 >&2; exit 7', { acknowledge: ['maxFileSize'] })
    expect(events.filter(({ door }) => door === 'exec')).toMatchObject([
      {
        operation: 'exec',
        outcome: 'allowed',
        exitCode: 7,
        signal: null,
        timedOut: false,
        stdoutBytes: 5,
        stderrBytes: 3,
        acknowledged: ['maxFileSize'],
        executor: 'virtual',
      },
    ])
    expect(events[0]?.duration).toBeGreaterThan(0)
  })

  it('[RU9] says that the timeout ended it', async () => {
    const { workspace } = await openMemory({ '/': {} }, virtual)
    const events = listen(workspace)
    await workspace.exec('sleep 60', { timeout: 50 })
    expect(events.at(-1)).toMatchObject({ operation: 'exec', outcome: 'allowed', timedOut: true })
  })

  it('[RU9] has nothing of an end when the command never ran', async () => {
    const { workspace } = await openMemory({ '/': { '/no/a': '' } }, { ...virtual, rules: [rules.deny('/no')] })
    const events = listen(workspace)
    await codeOf(workspace.exec('ls', { cwd: '/no' }))
    expect(events).toMatchObject([{ operation: 'exec', outcome: 'denied', code: 'EACCES' }])
    expect(events[0]?.exitCode).toBeUndefined()
    expect(events[0]?.stdoutBytes).toBeUndefined()
  })
})

describe('an abort', () => {
  it('[RU9] has an outcome and a code of its own at both doors', async () => {
    const { workspace } = await openMemory({ '/': { '/a': 'x' } }, virtual)
    const events = listen(workspace)
    const before = AbortSignal.abort(new Error('the caller gave up'))
    await workspace.readText('/a', { signal: before }).catch(() => undefined)
    await workspace.exec('echo hi', { signal: before }).catch(() => undefined)
    const during = new AbortController()
    const running = await workspace.spawn('sleep 60', { signal: during.signal })
    during.abort()
    await running.wait().catch(() => undefined)
    expect(events.map(({ operation, outcome, code }) => [operation, outcome, code])).toEqual([
      ['read', 'aborted', 'ECANCELED'],
      ['exec', 'aborted', 'ECANCELED'],
      ['exec', 'aborted', 'ECANCELED'],
    ])
  })

  it('[RU9] is told apart from a failure that came first', async () => {
    const { workspace } = await openMemory({ '/': {} })
    const events = listen(workspace)
    const controller = new AbortController()
    const reading = workspace.readText('/missing', { signal: controller.signal })
    await codeOf(reading)
    controller.abort()
    expect(events).toMatchObject([{ outcome: 'failed', code: 'ENOENT' }])
  })
})

describe('a denial that a link led to', () => {
  it('[RU9] carries the path that was refused, in every operation', async () => {
    const { workspace } = await openMemory(
      { '/': { '/secret/k': 'k', '/a': 'a', '/fixed/f': 'f' } },
      { ...virtual, rules: [rules.deny('/secret'), rules.readOnly('/fixed')] },
    )
    await workspace.createSymlink('/door', 'secret')
    await workspace.createSymlink('/key', 'secret/k')
    await workspace.createSymlink('/still', 'fixed')
    const events = listen(workspace)
    const attempts: [() => Promise<unknown>, string][] = [
      [() => workspace.readText('/key'), '/secret/k'],
      [() => workspace.readText('/door/k'), '/secret/k'],
      [() => workspace.stat('/door/k'), '/secret/k'],
      [() => workspace.write('/door/n', 'n'), '/secret/n'],
      [() => workspace.write('/still/f', 'n'), '/fixed/f'],
      [() => workspace.append('/still/f', 'n'), '/fixed/f'],
      [() => workspace.delete('/still/f'), '/fixed/f'],
      [() => workspace.createDirectory('/still/d'), '/fixed/d'],
      [() => workspace.copy('/a', '/still/a'), '/fixed/a'],
      [() => workspace.copy('/door/k', '/b'), '/secret/k'],
      [() => workspace.list('/door').next(), '/secret'],
      [() => workspace.search('k', { in: '/door' }).next(), '/secret'],
      [() => workspace.exec('ls', { cwd: '/door' }), '/secret'],
    ]
    for (const [attempt, refused] of attempts) {
      events.length = 0
      const error: unknown = await attempt().catch((thrown: unknown) => thrown)
      expect(isWorkspaceError(error, 'EACCES'), `${refused}: ${String(error)}`).toBe(true)
      expect(events.at(-1), String(attempt)).toMatchObject({ outcome: 'denied', code: 'EACCES', resolvedPath: refused })
    }
  })

  it('[RU9] has no second path where the refused one is the one that was asked for', async () => {
    const { workspace } = await openMemory({ '/': { '/secret/k': 'k' } }, { rules: [rules.deny('/secret')] })
    const events = listen(workspace)
    await codeOf(workspace.readText('/secret/k'))
    await codeOf(workspace.copy('/nothing', '/secret/k'))
    expect(events.map(({ resolvedPath }) => resolvedPath)).toEqual([undefined, undefined])
  })
})
