import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { failureOf, shareEngine, siteOf, type SiteOptions } from './support/site.ts'

shareEngine()

const command = 'printf 12 > a.txt; rm b.txt; mkdir made; printf 1234 > made/new.txt; mv c.txt d.txt'
const expected = [
  { path: '/a.txt', kind: 'changed', type: 'file', what: ['content'], sizeBefore: 1, sizeAfter: 2 },
  { path: '/b.txt', kind: 'deleted', type: 'file', sizeBefore: 1 },
  { path: '/d.txt', kind: 'moved', type: 'file', from: '/c.txt', sizeBefore: 1, sizeAfter: 1 },
  { path: '/made', kind: 'created', type: 'directory' },
  { path: '/made/new.txt', kind: 'created', type: 'file', sizeAfter: 4 },
]

async function withFiles(options: SiteOptions) {
  const site = await siteOf(options)
  for (const name of ['a', 'b', 'c']) await site.workspace.write(`/${name}.txt`, name)
  return site.workspace
}

describe('changes of commands in the interpreter', () => {
  it('[UN1] are in the result, with sizes, also of spawned ones and those in the background', async () => {
    const moves = expected.flatMap((change) =>
      change.kind !== 'moved' ? [change] : [{ path: '/d.txt', kind: 'created', type: 'file', sizeAfter: 1 }],
    )
    const wanted = [
      ...moves.slice(0, 2),
      { path: '/c.txt', kind: 'deleted', type: 'file', sizeBefore: 1 },
      ...moves.slice(2),
    ]
    const open = () => withFiles({ kind: 'memory', executors: [createVirtualExecutor()] })
    const workspace = await open()
    expect((await workspace.exec(command, { changes: true })).changes).toEqual(wanted)
    expect((await workspace.exec('cat a.txt', { changes: true })).changes).toEqual([])
    expect((await workspace.exec('echo more >> a.txt')).changes).toBeUndefined()
    expect((await workspace.exec('rm a.txt', { changes: true })).changes).toMatchObject([{ path: '/a.txt' }])
    const running = await (await open()).spawn(command, { changes: true })
    expect((await running.wait()).changes).toEqual(wanted)
    const background = await (await open()).start(command, { changes: true })
    await background.wait()
    expect(background.result?.changes).toEqual(wanted)
  })

  it('[UN1] say that another command, session or call may have made them, and nothing of commands before and after', async () => {
    const workspace = await withFiles({ kind: 'memory', executors: [createVirtualExecutor()] })
    const waiting = 'read -r line; echo one > one.txt'
    const first = await workspace.start(waiting, { changes: true, writableStdin: true })
    const second = await workspace.exec('echo two > two.txt', { changes: true })
    await first.writeInput('go\n')
    first.endInput()
    const { changes = [] } = await first.wait()
    expect(second.changes).toMatchObject([{ path: '/two.txt', shared: true }])
    expect(changes.map(({ path, shared }) => [path, shared])).toEqual([
      ['/one.txt', true],
      ['/two.txt', true],
    ])
    const alone = await workspace.exec('echo three > three.txt', { changes: true })
    expect(alone.changes?.map(({ path, shared }) => [path, shared])).toEqual([['/three.txt', undefined]])
    const third = await workspace.start(waiting, { changes: true, writableStdin: true })
    await workspace.write('/by-call.txt', 'x')
    third.kill('SIGKILL')
    expect((await third.wait()).changes).toMatchObject([{ path: '/by-call.txt', shared: true }])
  })
})

describeWith(component('bubblewrap'), 'changes of commands of processes', { tags: ['all'] }, () => {
  it('[UN1] are found by a scan, also after a timeout, and with automatic checkpoints', async () => {
    for (const automatic of [false, true]) {
      const workspace = await withFiles({ automatic, executors: [createBubblewrapExecutor()] })
      expect((await workspace.exec(command, { changes: true })).changes).toEqual(expected)
      const late = await workspace.exec('echo x > late.txt; exec sleep 60', { changes: true, timeout: 1_000 })
      expect(late).toMatchObject({ timedOut: true, changes: [{ path: '/late.txt', kind: 'created' }] })
      expect((await workspace.exec('cat a.txt', { changes: true })).changes).toEqual([])
    }
  })

  it('[UN1] hold nothing that rules deny', async () => {
    const executors = [createBubblewrapExecutor()]
    const { workspace, root } = await siteOf({ executors, rules: [rules.deny('/secret.txt')] })
    writeFileSync(join(root, 'secret.txt'), 'secret')
    chmodSync(join(root, 'secret.txt'), 0o666)
    const options = { changes: true, acknowledge: ['deny(/secret.txt)'] }
    const { changes } = await workspace.exec('echo x > a.txt; echo x > secret.txt', options)
    expect(readFileSync(join(root, 'secret.txt'), 'utf8')).toBe('x\n')
    expect(changes?.map(({ path }) => path)).toEqual(['/a.txt'])
  })
})

describe('changes between two checkpoints', () => {
  for (const kind of ['local', 'memory'] as const) {
    it(`[UN2] of ${kind} name what changed between them, and not later`, async () => {
      const { workspace } = await siteOf({ kind })
      await workspace.write('/a.txt', 'one\n')
      const { id: since } = await workspace.checkpoint()
      await workspace.write('/a.txt', 'two\n')
      await workspace.write('/b.txt', 'b')
      const { id: until } = await workspace.checkpoint()
      await workspace.write('/a.txt', 'three\n')
      await workspace.write('/c.txt', 'c')
      const found = await workspace.changes({ since, until })
      expect(found.map(({ path, kind: change }) => `${change} ${path}`)).toEqual(['changed /a.txt', 'created /b.txt'])
      expect(await workspace.diff({ since, until, path: '/a.txt' })).toContain('-one\n+two\n')
      expect(await workspace.changes({ since, until: since })).toEqual([])
      expect(await failureOf(workspace.changes({ since: until, until: since }))).toMatchObject({ code: 'EINVAL' })
      expect(await failureOf(workspace.diff({ until }))).toMatchObject({ code: 'EINVAL' })
      expect(await failureOf(workspace.changes({ since, until: 'c0' }))).toMatchObject({ code: 'ENOENT' })
    })
  }

  it('[UN2] say of a file that is too large that its earlier bytes are lost', async () => {
    const { workspace } = await siteOf({ maxFileBytes: 10 })
    await workspace.write('/large.txt', 'a'.repeat(20))
    await workspace.write('/bits.txt', 'b'.repeat(20))
    const { id: since } = await workspace.checkpoint()
    await workspace.write('/large.txt', 'a'.repeat(30))
    await workspace.chmod('/bits.txt', 0o600)
    const [bits, large] = await workspace.changes({ since })
    expect(large).toMatchObject({ path: '/large.txt', sizeBefore: 20, sizeAfter: 30, unsaved: true })
    expect(bits?.unsaved).toBeUndefined()
  })
})

it('[UN1] changes of commands need the engine, and the refusal names the line to add', async () => {
  await using workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
    executors: [createVirtualExecutor()],
  })
  const failure = await failureOf(workspace.exec('echo x > ran.txt', { changes: true }))
  expect(failure).toMatchObject({ code: 'ENOTSUP', operation: 'exec' })
  expect(failure.remedy).toContain('checkpoints: createCheckpoints(')
  expect(await workspace.exists('/ran.txt')).toBe(false)
})
