import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, observe, rules } from '@ws/core'
import type { Rule } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createCheckpoints } from '@ws/snapshots'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { link, mkdtemp, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hear } from './heard.ts'

/** Milliseconds. */
const never = 2 ** 31 - 1

async function openLocal(given: readonly Rule[] = []) {
  const scratch = await createScratchDirectory()
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createLocalAdapter({ root: scratch.path }) }],
    executors: [createBubblewrapExecutor()],
    rules: given,
  })
  onTestFinished(async () => {
    await workspace.close()
    await scratch.remove()
  })
  return { workspace, root: scratch.path }
}

async function openMemory(adapter: StorageAdapter = createMemoryAdapter(), given: readonly Rule[] = []) {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter }],
    executors: [createVirtualExecutor()],
    rules: given,
  })
  onTestFinished(() => workspace.close())
  return { workspace }
}

describe('[EF4] a watch', () => {
  it('tells each call at once, and nothing that did not change', async () => {
    const { workspace } = await openMemory()
    await workspace.write('/old/a.txt', '1')
    const { heard } = hear(await workspace.watch('/'))
    expect(await heard()).toEqual([])
    await workspace.write('/old/a.txt', '2')
    expect(await heard()).toEqual(['changed /old/a.txt'])
    await workspace.write('/new/deep/b.txt', '1')
    expect(await heard()).toEqual(['created /new', 'created /new/deep', 'created /new/deep/b.txt'])
    await workspace.append('/new/deep/b.txt', '2')
    expect(await heard()).toEqual(['changed /new/deep/b.txt'])
    await workspace.edit('/new/deep/b.txt', { oldText: '12', newText: '21' })
    expect(await heard()).toEqual(['changed /new/deep/b.txt'])
    await workspace.chmod('/new/deep', 0o700)
    expect(await heard()).toEqual(['changed /new/deep'])
    await workspace.move('/new', '/moved')
    expect(await heard()).toEqual([
      'deleted /new/deep/b.txt',
      'deleted /new/deep',
      'deleted /new',
      'created /moved',
      'created /moved/deep',
      'created /moved/deep/b.txt',
    ])
    await workspace.copy('/moved/deep', '/copy')
    expect(await heard()).toEqual(['created /copy', 'created /copy/b.txt'])
    await workspace.createSymlink('/link', 'copy/b.txt')
    expect(await heard()).toEqual(['created /link'])
    await workspace.delete('/moved', { recursive: true })
    expect(await heard()).toEqual(['deleted /moved/deep/b.txt', 'deleted /moved/deep', 'deleted /moved'])
    await workspace.read('/old/a.txt')
    await workspace.utimes('/copy', { modifiedAt: 5 })
    expect(await heard()).toEqual([])
  })

  it('tells a path that is missing, a single file, and one level', async () => {
    const { workspace } = await openMemory()
    const file = hear(await workspace.watch(['/later/a.txt', 'later/a.txt']))
    const level = hear(await workspace.watch('/later', { recursive: false }))
    await workspace.write('/later/a.txt', '1')
    await workspace.write('/later/sub/b.txt', '1')
    await workspace.write('/elsewhere.txt', '1')
    await workspace.delete('/later', { recursive: true })
    expect(await file.heard()).toEqual(['created /later/a.txt', 'deleted /later/a.txt'])
    expect((await level.heard()).toSorted()).toEqual([
      ...['created /later', 'created /later/a.txt', 'created /later/sub'],
      ...['deleted /later', 'deleted /later/a.txt', 'deleted /later/sub'],
    ])
  })

  it('follows links in the watched path, and no link below it', async () => {
    const { workspace } = await openMemory()
    for (const path of ['/one/a', '/two/a', '/two/b']) await workspace.write(path, path)
    await workspace.createSymlink('/link', 'one')
    await workspace.createSymlink('/one/out', '../two')
    const { heard } = hear(await workspace.watch('/link'))
    await workspace.write('/one/a', '2')
    await workspace.write('/two/b', '2')
    expect(await heard()).toEqual(['changed /link/a'])
    await workspace.delete('/link')
    expect(await heard()).toEqual(['deleted /link/a', 'deleted /link/out', 'deleted /link'])
    await workspace.createSymlink('/link', 'two')
    expect(await heard()).toEqual(['created /link', 'created /link/a', 'created /link/b'])
    await workspace.delete('/one', { recursive: true })
    await workspace.delete('/two/a')
    expect(await heard()).toEqual(['deleted /link/a'])
  })

  it('tells changes through another workspace on the same store', async () => {
    const adapter = createMemoryAdapter()
    const [one, other] = [await openMemory(adapter), await openMemory(adapter)]
    const { heard } = hear(await one.workspace.watch('/'))
    await other.workspace.write('/a.txt', '1')
    await other.workspace.exec('mkdir d && mv a.txt d')
    await one.workspace.exec('true')
    expect(await heard()).toEqual(['created /a.txt', 'created /d', 'deleted /a.txt', 'created /d/a.txt'])
  })

  it('names no denied path, and hides the change of a directory by one', async () => {
    const given = [rules.deny('/secret'), rules.denyGlob('**/*.key'), rules.readOnly('/fixed')]
    const adapter = createMemoryAdapter({ files: { '/secret/a': '1', '/dir/b.key': '1', '/fixed/c': '1' } })
    const { workspace: open } = await openMemory(adapter)
    const { workspace } = await openMemory(adapter, given)
    const { heard } = hear(await workspace.watch('/'))
    await open.write('/secret/new/a', '2')
    await open.write('/dir/b.key', '2')
    await open.write('/dir/new.key', '1')
    await open.delete('/dir/b.key')
    await open.move('/dir', '/renamed')
    await open.write('/fixed/c', '2')
    await open.delete('/secret', { recursive: true })
    await workspace.exec('true')
    expect((await heard()).toSorted()).toEqual(['changed /fixed/c', 'created /renamed', 'deleted /dir'])
    for (const path of ['/secret', '/secret/a', '/renamed/new.key']) {
      await expect(workspace.watch(path)).rejects.toMatchObject({ code: 'EACCES', path })
    }
  })

  it('replaces events that do not fit by one overflow for each watched path', async () => {
    const { workspace } = await openMemory()
    const watch = await workspace.watch(['/a', '/b'], { maxPending: 3 })
    for (const path of ['/b/0', '/a/1', '/a/2', '/a/3', '/b/4']) await workspace.write(path, '1')
    expect(await watch.next()).toEqual({ done: false, value: { kind: 'overflow', path: '/b' } })
    await workspace.write('/b/5', '1')
    await workspace.write('/a/5', '1')
    expect(await watch.next()).toEqual({ done: false, value: { kind: 'overflow', path: '/a' } })
    expect(await watch.next()).toEqual({ done: false, value: { kind: 'created', path: '/b/5', type: 'file' } })
  })

  it('ends by return, abort and close, and later calls tell nothing', async () => {
    const { workspace } = await openMemory()
    const left = await workspace.watch('/')
    void workspace.write('/a', '1')
    for await (const event of left) {
      expect(event).toEqual({ kind: 'created', path: '/a', type: 'file' })
      break
    }
    const controller = new AbortController()
    const aborted = await workspace.watch('/', { signal: controller.signal })
    const waiting = aborted.next()
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(await aborted.next()).toEqual({ done: true, value: undefined })
    await expect(workspace.watch('/', { signal: controller.signal })).rejects.toBe(reason)
    const closed = await workspace.watch('/')
    await workspace.write('/last', '1')
    await workspace.close()
    expect((await Array.fromAsync(closed)).map(({ path }) => path)).toEqual(['/last'])
    await expect(workspace.watch('/')).rejects.toMatchObject({ code: 'ECLOSED' })
    expect(await left.next()).toEqual({ done: true, value: undefined })
  })

  it('refuses bad input in one sentence', async () => {
    const { workspace } = await openMemory()
    for (const bad of [[], [1], null, undefined, {}, Array.from({ length: 1_001 }, () => '/')])
      await expect(workspace.watch(bad as string[])).rejects.toMatchObject({ code: 'EINVAL', operation: 'watch' })
    for (const options of [{ interval: 0 }, { maxPending: 0 }, { recursive: 1 }, { other: true }, null])
      await expect(workspace.watch('/', options as object)).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(workspace.watch('/../x')).rejects.toMatchObject({ code: 'EOUTSIDE' })
  })

  it('has the events of a restore, of a dropped try and of a merge', async () => {
    const scratch = await createScratchDirectory()
    const root = await scratch.createDirectory('root')
    const stateDirectory = await mkdtemp(join(scratch.path, 'state-')) // of this user
    const workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createLocalAdapter({ root }) }],
      checkpoints: createCheckpoints({ stateDirectory }),
    })
    const { heard } = hear(await workspace.watch('/', { interval: never }))
    const { id } = await workspace.checkpoint()
    await workspace.write('/a', '1')
    expect(await heard()).toEqual(['created /a'])
    await workspace.restore(id)
    expect(await heard()).toEqual(['deleted /a'])
    const tried = await workspace.try((view) => view.write('/b', '1'), { exclusive: true })
    expect(await heard()).toEqual(['created /b'])
    await tried.drop()
    expect(await heard()).toEqual(['deleted /b'])
    const fork = await workspace.fork()
    await fork.write('/c', '1')
    expect(await heard()).toEqual([])
    await workspace.merge(fork)
    expect(await heard()).toEqual(['created /c'])
    await fork.close()
    await workspace.close()
    await scratch.remove()
  })
})

describeWith([component('bubblewrap'), component('perl')], '[EF4] a watch of a directory', () => {
  it('has all events of a command when `exec` resolves', async () => {
    const { workspace, root } = await openLocal()
    const { heard } = hear(await workspace.watch('/', { interval: never }))
    await workspace.exec('mkdir -p d/e && echo 1 > d/e/f && echo 2 > g')
    expect((await heard()).toSorted()).toEqual(['created /d', 'created /d/e', 'created /d/e/f', 'created /g'])
    await workspace.exec('echo 22 >> g; rm -r d; mkdir -p x/y; mv g x/y')
    expect((await heard()).toSorted()).toEqual([
      ...['created /x', 'created /x/y', 'created /x/y/g'],
      ...['deleted /d', 'deleted /d/e', 'deleted /d/e/f', 'deleted /g'],
    ])
    await workspace.exec('cat x/y/g; ls -R /')
    expect(await heard()).toEqual([])
    await link(join(root, 'x/y/g'), join(root, 'x/h'))
    await workspace.exec('true')
    expect((await heard()).toSorted()).toEqual(['changed /x/y/g', 'created /x/h'])
    await workspace.exec('echo 3 >> x/h')
    expect((await heard()).toSorted()).toEqual(['changed /x/h', 'changed /x/y/g'])
  })

  it('lists nothing after a command that changes nothing', async () => {
    const calls: string[] = []
    const scratch = await createScratchDirectory()
    const adapter = await createLocalAdapter({ root: scratch.path })
    await using workspace = await createWorkspace({
      mounts: [
        { at: '/', adapter: observe(adapter, ({ operation, phase }) => phase === 'before' && calls.push(operation)) },
      ],
      executors: [createBubblewrapExecutor()],
    })
    for (let index = 0; index < 200; index++) await workspace.write(`/${index % 20}/${index}`, '1')
    await workspace.exec('true')
    await workspace.watch('/', { interval: never })
    calls.length = 0
    await workspace.exec('cat */*; true')
    const without = calls.filter((operation) => operation === 'list').length
    await workspace.exec('echo 1 > 1/new')
    expect(without).toBe(0)
    expect(calls).toContain('stat')
    await workspace.close()
    await adapter.close()
    await scratch.remove()
  })

  it('tells changes by other programs, by the interval', async () => {
    const { workspace, root } = await openLocal()
    const watch = await workspace.watch('/', { interval: 20 })
    await writeFile(join(root, 'by-hand'), '1')
    expect(await watch.next()).toMatchObject({ value: { kind: 'created', path: '/by-hand' } })
    await rename(join(root, 'by-hand'), join(root, 'other'))
    const both = [await watch.next(), await watch.next()].map(({ value }) => `${value?.kind} ${value?.path}`)
    expect(both.toSorted()).toEqual(['created /other', 'deleted /by-hand'])
  })

  it('has the events of a background command and of a session at their ends', async () => {
    const { workspace } = await openLocal()
    const { heard } = hear(await workspace.watch('/', { interval: never }))
    const command = await workspace.start('echo 1 > a')
    await command.wait()
    expect(await heard()).toEqual(['created /a'])
    const session = await workspace.openSession({ command: 'echo 1 > b' })
    await session.wait()
    expect(await heard()).toEqual(['created /b'])
  })

  it('has the events of a command that fails, times out or is aborted', async () => {
    const { workspace } = await openLocal()
    const { heard } = hear(await workspace.watch('/', { interval: never }))
    await workspace.exec('echo 1 > failed; exit 3')
    expect(await heard()).toEqual(['created /failed'])
    await workspace.exec('echo 1 > late; sleep 60', { timeout: 500 })
    expect(await heard()).toEqual(['created /late'])
    const controller = new AbortController()
    const running = workspace.exec('echo begun; echo 1 > aborted; sleep 60', {
      signal: controller.signal,
      onOutput: () => setTimeout(() => controller.abort(), 100),
    })
    await expect(running).rejects.toThrow()
    expect(await heard()).toEqual(['created /aborted'])
  })
})
