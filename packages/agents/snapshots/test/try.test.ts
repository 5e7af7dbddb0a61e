import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, type Workspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createCheckpoints } from '../src/index.ts'
import { failureOf, filesOf, shareEngine, siteOf, type SiteOptions } from './support/site.ts'

shareEngine()

const command = 'printf 12 > a.txt; rm b.txt; mkdir made; printf 1234 > made/new.txt; printf x > made/other.txt'

async function withFiles(options: SiteOptions = {}): Promise<Workspace> {
  const { workspace } = await siteOf({ kind: 'memory', executors: [createVirtualExecutor()], ...options })
  for (const name of ['a', 'b', 'c']) await workspace.write(`/${name}.txt`, `${name}\n`)
  return workspace
}

for (const kind of ['memory', 'local'] as const) {
  describe(`a try in ${kind}`, () => {
    it('[UN2] [UN3] shows result, changes and diff of a command, and takes all back', async () => {
      const workspace = await withFiles({ kind })
      const before = await filesOf(workspace)
      const attempt = await workspace.try(command, { exclusive: true })
      expect(attempt.result).toMatchObject({ exitCode: 0 })
      expect(attempt.changes.map(({ kind: change, path }) => `${change} ${path}`)).toEqual([
        'changed /a.txt',
        'deleted /b.txt',
        'created /made',
        'created /made/new.txt',
        'created /made/other.txt',
      ])
      expect(await attempt.diff({ path: 'a.txt' })).toContain('-a\n+12')
      expect(await workspace.readText('/a.txt')).toBe('12')
      const { restored, kept, undo } = await attempt.drop()
      expect([restored.length, kept]).toEqual([5, []])
      expect(await filesOf(workspace)).toEqual(before)
      await workspace.restore(undo ?? '')
      expect(await workspace.readText('/made/new.txt')).toBe('1234')
    })

    it('[UN3] keeps all, or by path: the directories above stay, and the rest is taken back', async () => {
      const workspace = await withFiles({ kind })
      const before = await filesOf(workspace)
      const first = await workspace.try(command, { exclusive: true })
      const { restored } = await first.keep(['made/new.txt'])
      expect(restored.map(({ path }) => path)).toEqual(['/a.txt', '/b.txt', '/made/other.txt'])
      const { ['/made']: made, ['/made/new.txt']: kept, ...rest } = await filesOf(workspace)
      expect([made?.slice(0, 9), kept?.slice(-4)]).toEqual(['directory', '1234'])
      expect(rest).toEqual(before)
      const second = await workspace.try(command, { exclusive: true })
      const after = await filesOf(workspace)
      expect(await second.keep()).toEqual({ restored: [], kept: [] })
      expect(await filesOf(workspace)).toEqual(after)
      await workspace.write('/goes-on.txt', 'x')
    })
  })
}

describe('a try of a function', () => {
  it('gets a workspace whose commands, sessions and calls end with it, and refuses calls after that', async () => {
    const workspace = await withFiles()
    let view: Workspace | undefined
    const attempt = await workspace.try(async (given) => {
      view = given
      await given.write('/by-call.txt', 'x')
      await given.exec('echo x > by-command.txt')
      void given.write('/late.txt', 'not awaited')
      await given.start('while true; do echo x >> endless.txt; done')
      return 'done'
    })
    expect(attempt.result).toBe('done')
    const found = await filesOf(workspace)
    expect(Object.keys(found)).toEqual(expect.arrayContaining(['/by-call.txt', '/by-command.txt', '/late.txt']))
    expect(attempt.changes.map(({ path }) => path)).toEqual(expect.arrayContaining(['/late.txt', '/by-call.txt']))
    expect(await failureOf(view?.readText('/a.txt') ?? Promise.resolve())).toMatchObject({ code: 'ECLOSED' })
    expect(await failureOf(view?.exec('true') ?? Promise.resolve())).toMatchObject({ code: 'ECLOSED' })
    expect(await filesOf(workspace)).toEqual(found)
    await attempt.drop()
    expect(Object.keys(await filesOf(workspace))).toEqual(['/a.txt', '/b.txt', '/c.txt'])
  })

  it('is dropped if it fails, and the failure is thrown', async () => {
    const workspace = await withFiles()
    const before = await filesOf(workspace)
    const failing = workspace.try(async (view) => {
      await view.delete('/a.txt')
      throw new Error('of the function')
    })
    await expect(failing).rejects.toThrow('of the function')
    expect(await filesOf(workspace)).toEqual(before)
    const controller = new AbortController()
    const aborted = workspace.try('rm a.txt; sleep 60', { signal: controller.signal })
    await expect.poll(() => workspace.exists('/a.txt')).toBe(false)
    controller.abort()
    await expect(aborted).rejects.toBe(controller.signal.reason)
    expect(await filesOf(workspace)).toEqual(before)
    await workspace.write('/goes-on.txt', 'x')
  })
})

describe('while a try is open', () => {
  it('others read, and their changes and commands are EBUSY, which names the try and how to end it', async () => {
    const workspace = await withFiles()
    const during: string[] = []
    const attempt = await workspace.try(async (view) => {
      for (const call of [workspace.write('/x', ''), workspace.exec('true'), workspace.try('true'), view.try('true')])
        during.push((await failureOf(call)).code)
      await view.exec('rm a.txt')
    })
    expect(during).toEqual(['EBUSY', 'EBUSY', 'EBUSY', 'EBUSY'])
    await attempt.drop()
    await using open = await workspace.try('rm a.txt')
    expect(await workspace.exists('/b.txt')).toBe(true)
    const calls = [
      () => workspace.write('/b.txt', 'x'),
      () => workspace.append('/b.txt', 'x'),
      () => workspace.edit('/b.txt', { oldText: 'b', newText: 'x' }),
      () => workspace.createDirectory('/new'),
      () => workspace.createSymlink('/new', 'b.txt'),
      () => workspace.chmod('/b.txt', 0o600),
      () => workspace.utimes('/b.txt', { modifiedAt: 0 }),
      () => workspace.delete('/b.txt'),
      () => workspace.move('/b.txt', '/new'),
      () => workspace.copy('/b.txt', '/new'),
      () => workspace.restore(open.id),
      () => workspace.exec('true'),
      () => workspace.spawn('true'),
      () => workspace.start('true'),
      () => workspace.openSession(),
      () => workspace.try('true'),
    ]
    for (const call of calls) {
      const failure = await failureOf(call())
      expect(failure).toMatchObject({ code: 'EBUSY', remedy: 'end it by `keep()` or `drop()` of its result' })
      expect(failure.reason).toContain('the try of `rm a.txt` is open')
    }
    await open.drop()
    await workspace.exec('rm a.txt')
  })
})

describe('a try that nobody ends', () => {
  it('is dropped after its time, and says so', async () => {
    const workspace = await withFiles()
    const before = await filesOf(workspace)
    const attempt = await workspace.try('rm a.txt', { decideWithin: 1 })
    await expect.poll(() => workspace.exists('/a.txt')).toBe(true)
    await expect.poll(() => workspace.write('/b.txt', 'b\n').catch(() => undefined)).toBeDefined()
    const failure = await failureOf(attempt.keep())
    expect(failure).toMatchObject({ code: 'ECLOSED', reason: 'the try was dropped, because 1 ms had passed' })
    expect(Object.keys(await filesOf(workspace)).sort()).toEqual(Object.keys(before).sort())
  })

  it('is dropped when the workspace closes, also while it runs', async () => {
    for (const isRunning of [false, true]) {
      const adapter = createMemoryAdapter()
      const workspace = await withFiles({ adapter })
      const before = await filesOf(workspace)
      const trying = workspace.try(isRunning ? 'rm a.txt; sleep 60' : 'rm a.txt')
      if (isRunning) await expect.poll(() => workspace.exists('/a.txt')).toBe(false)
      else await trying
      const [ended] = await Promise.allSettled([trying, workspace.close()])
      if (isRunning) expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'ECLOSED' } })
      const { workspace: next } = await siteOf({ adapter })
      expect(await filesOf(next)).toEqual(before)
      if (!isRunning) expect(await failureOf((await trying).keep())).toMatchObject({ code: 'ECLOSED' })
    }
  })

  it('ends at the close, although its function does not', async () => {
    const adapter = createMemoryAdapter()
    const workspace = await withFiles({ adapter })
    const before = await filesOf(workspace)
    const failure = failureOf(
      workspace.try(async (view) => {
        await view.write('/new', 'n')
        await new Promise(() => undefined)
      }),
    )
    await expect.poll(() => workspace.exists('/new')).toBe(true)
    await workspace.close()
    expect(await failure).toMatchObject({ code: 'ECLOSED' })
    const { workspace: next } = await siteOf({ adapter })
    expect(await filesOf(next)).toEqual(before)
  })
})

describe('a try is refused', () => {
  it('without the engine, with the line to add', async () => {
    await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }] })
    const failure = await failureOf(workspace.try('true'))
    expect(failure).toMatchObject({ code: 'ENOTSUP', operation: 'try' })
    expect(failure.remedy).toContain('checkpoints: createCheckpoints(')
  })

  it('where other programs may write, unless the caller says that none does', async () => {
    const workspace = await withFiles({ kind: 'local' })
    const failure = await failureOf(workspace.try('rm a.txt'))
    expect(failure).toMatchObject({ code: 'EINVAL', remedy: expect.stringContaining('exclusive: true') as string })
    expect(await workspace.exists('/a.txt')).toBe(true)
  })

  it('where another workspace of this process has the same files, or a part of them', async () => {
    const { workspace, root } = await siteOf({ kind: 'local', executors: [createVirtualExecutor()] })
    mkdirSync(join(root, 'part'))
    for (const place of [root, join(root, 'part')]) {
      const other = await siteOf({ root: place })
      expect(await failureOf(workspace.try('true', { exclusive: true }))).toMatchObject({ code: 'EBUSY' })
      await other.workspace.close()
    }
    const attempt = await workspace.try('true', { exclusive: true })
    expect(await failureOf(siteOf({ root }))).toMatchObject({ code: 'EBUSY', operation: 'createWorkspace' })
    await attempt.drop()
    await siteOf({ root })
  })

  it('in a workspace where nothing can be written', async () => {
    await using workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createMemoryAdapter(), access: 'read-only' }],
      executors: [createVirtualExecutor()],
      checkpoints: createCheckpoints(),
    })
    expect(await failureOf(workspace.try('true'))).toMatchObject({ code: 'EROFS' })
  })

  it('while commands, sessions or changing calls run', async () => {
    const workspace = await withFiles()
    const background = await workspace.start('read -r line', { writableStdin: true, id: 'server' })
    expect(await failureOf(workspace.try('true'))).toMatchObject({
      code: 'EBUSY',
      reason: expect.stringContaining('`server`') as string,
    })
    background.kill('SIGKILL')
    await background.wait()
    const { promise, resolve } = Promise.withResolvers<void>()
    const slow = async function* () {
      await promise
      yield new Uint8Array(1)
    }
    const writing = workspace.write('/slow.txt', slow())
    expect(await failureOf(workspace.try('true'))).toMatchObject({ code: 'EBUSY' })
    const starting = workspace.exec('true')
    expect(await failureOf(workspace.try('true'))).toMatchObject({ code: 'EBUSY' })
    resolve()
    await Promise.all([writing, starting])
    await (await workspace.try('true')).drop()
  })

  it('when the checkpoint cannot be saved, and nothing runs', async () => {
    const { workspace, root } = await siteOf({ maxBytes: 1_000, executors: [createVirtualExecutor()] })
    writeFileSync(join(root, 'large'), Buffer.from(Array.from({ length: 100_000 }, () => Math.random() * 256)))
    const failure = await failureOf(workspace.try('echo x > ran.txt', { exclusive: true }))
    expect(failure).toMatchObject({ code: 'EDQUOT', operation: 'try' })
    expect(await workspace.exists('/ran.txt')).toBe(false)
    await workspace.write('/goes-on.txt', 'x')
  })

  it('with options that it does not have, with `acknowledge`, and for a blank command', async () => {
    const workspace = await withFiles()
    const calls = [
      () => workspace.try('true', { copy: true } as object),
      () => workspace.try('true', { decideWithin: 0 }),
      () => workspace.try('true', { acknowledge: ['x'] }),
      () => workspace.try('  '),
      () => workspace.try(async () => undefined, { cwd: '/' } as object),
    ]
    for (const call of calls) expect(await failureOf(call())).toMatchObject({ code: 'EINVAL' })
    await workspace.write('/goes-on.txt', 'x')
  })
})

it('keep refuses a path that the try did not change, before anything happens, and a second end', async () => {
  const workspace = await withFiles()
  const attempt = await workspace.try(command)
  const after = await filesOf(workspace)
  for (const path of ['/c.txt', '/missing', 'made/..']) {
    expect(await failureOf(attempt.keep(['/a.txt', path]))).toMatchObject({ code: 'EINVAL' })
    expect(await filesOf(workspace)).toEqual(after)
  }
  await attempt.drop()
  expect(await failureOf(attempt.drop())).toMatchObject({ code: 'ECLOSED', reason: 'the try was dropped' })
  expect(await failureOf(attempt.keep())).toMatchObject({ code: 'ECLOSED' })
})

for (const kind of ['memory', 'local'] as const) {
  it(`the checkpoint before a try in ${kind} is not deleted to make room, however much the try saves`, async () => {
    const workspace = await withFiles({ kind, maxBytes: 500_000, maxAge: 1 })
    await workspace.write('/large.bin', randomBytes(100_000).toString('hex'))
    const before = await filesOf(workspace)
    const attempt = await workspace.try(
      async (view) => {
        for (let turn = 0; turn < 10; turn += 1) {
          await view.write('/large.bin', randomBytes(100_000).toString('hex'))
          await view.checkpoint()
        }
      },
      { exclusive: true },
    )
    expect(await workspace.checkpoints()).not.toHaveLength(12)
    expect((await attempt.drop()).kept).toEqual([])
    expect(await filesOf(workspace)).toEqual(before)
  })
}

describe('what a checkpoint cannot hold', () => {
  it('is said in `changes`, `leftOut` and by `drop`; a new large file goes', async () => {
    const workspace = await withFiles({ kind: 'local', maxFileBytes: 10 })
    await workspace.write('/large.txt', 'x'.repeat(20))
    const first = await workspace.try('echo more >> large.txt', { exclusive: true })
    expect(first.changes).toMatchObject([{ path: '/large.txt', unsaved: true }])
    expect(first.leftOut.map(({ path }) => path)).toEqual(['/large.txt'])
    expect((await first.drop()).kept).toEqual([{ path: '/large.txt', reason: 'its bytes were not saved then' }])
    await workspace.delete('/large.txt')
    const second = await workspace.try('printf %020d 1 > large.txt; printf %020d 2 > a.txt', { exclusive: true })
    expect((await second.drop()).kept).toEqual([])
    expect(await workspace.exists('/large.txt')).toBe(false)
    expect(await workspace.readText('/a.txt')).toBe('a\n')
  })

  it('never costs the only copy of earlier bytes that were not saved', async () => {
    const workspace = await withFiles({ kind: 'local', maxFileBytes: 10 })
    await workspace.write('/large.txt', 'x'.repeat(20))
    const attempt = await workspace.try('mv large.txt moved.txt', { exclusive: true })
    expect(attempt.changes).toMatchObject([{ path: '/moved.txt', kind: 'moved', unsaved: true }])
    const { kept } = await attempt.drop()
    expect(kept.map(({ path }) => path)).toEqual(['/large.txt', '/moved.txt'])
    expect(await workspace.readText('/moved.txt')).toBe('x'.repeat(20))
  })

  it('more than fits is taken back where it cannot be shown', async () => {
    const { workspace, root } = await siteOf({ maxBytes: 200_000, executors: [createVirtualExecutor()] })
    await workspace.write('/a.txt', 'a\n')
    const before = await filesOf(workspace)
    const failure = await failureOf(
      workspace.try(
        async (view) => {
          for (const name of ['1', '2', 'a.txt'])
            await view.write(
              name,
              Uint8Array.from({ length: 150_000 }, () => Math.random() * 256),
            )
        },
        { exclusive: true },
      ),
    )
    expect(failure).toMatchObject({ code: 'EDQUOT', operation: 'try' })
    expect(await filesOf(workspace)).toEqual(before)
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a\n')
  })
})

it('what others change after the try stays, and `drop` says so', async () => {
  const { workspace, root } = await siteOf({ executors: [createVirtualExecutor()] })
  await workspace.write('/a.txt', 'a\n')
  const attempt = await workspace.try('echo b > a.txt; echo c > c.txt', { exclusive: true })
  writeFileSync(join(root, 'a.txt'), 'of a person')
  writeFileSync(join(root, 'theirs.txt'), 'of a person')
  const { kept, restored } = await attempt.drop()
  expect(kept).toEqual([{ path: '/a.txt', reason: 'it was changed after the try' }])
  expect(restored.map(({ path }) => path)).toEqual(['/c.txt'])
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('of a person')
  expect(await workspace.exists('/theirs.txt')).toBe(true)
})

describeWith(component('bubblewrap'), 'a try of processes', { tags: ['all'] }, () => {
  it('ends what runs in the background, has no network unless asked for, and lists the hosts', async () => {
    const { workspace } = await siteOf({
      executors: [createBubblewrapExecutor({ network: { allow: ['example.com'] } })],
    })
    await workspace.write('/a.txt', 'a')
    const attempt = await workspace.try(
      async (view) => {
        await view.start('while :; do date > now.txt; done')
        return view.exec('curl -sS -m 5 https://example.com; rm a.txt')
      },
      { exclusive: true },
    )
    expect(attempt.result.violations).toMatchObject([{ rule: 'try', host: 'example.com' }])
    expect(attempt.connections).toMatchObject([{ host: 'example.com', outcome: 'denied', rule: 'try' }])
    await attempt.drop()
    expect(Object.keys(await filesOf(workspace))).toEqual(['/a.txt'])
  })

  it('is refused where commands share the network of the machine, unless it is asked for', async () => {
    const { workspace } = await siteOf({ executors: [createBubblewrapExecutor({ network: 'host' })] })
    const failure = await failureOf(workspace.try('echo x > x', { exclusive: true }))
    expect(failure).toMatchObject({
      code: 'EUNENFORCEABLE',
      remedy: expect.stringContaining('network: true') as string,
    })
    await (await workspace.try('echo x > x', { exclusive: true, network: true })).drop()
  })
})
