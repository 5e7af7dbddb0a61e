import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, type AccessEvent, type CheckpointEngine, rules, type Workspace } from '@ws/core'
import { createScratchDirectory } from '@ws/test-fixtures'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createCheckpoints } from '../src/index.ts'
import { failureOf, filesOf, ownDirectory, shareEngine, siteOf } from './support/site.ts'

shareEngine()

const files = { '/a': 'one', '/both': 'one', '/d/x': 'x', '/d/y': 'y', '/same': 'one' }

async function fill(workspace: Workspace): Promise<void> {
  for (const [path, text] of Object.entries(files)) await workspace.write(path, text, { parents: true })
}

async function forkOf(workspace: Workspace, options?: Parameters<Workspace['fork']>[0]): Promise<Workspace> {
  const fork = await workspace.fork(options)
  onTestFinished(() => fork.close())
  return fork
}

/** An engine that does something after each comparison of a fork, before its changes are taken over. */
function meddling(engine: CheckpointEngine, meddle: () => unknown): CheckpointEngine {
  return {
    ...engine,
    async attach(...given) {
      const attached = await engine.attach(...given)
      const compare = attached.compareFork.bind(attached)
      attached.compareFork = async (...asked) => {
        const found = await compare(...asked)
        await meddle()
        return found
      }
      return attached
    },
  }
}

describe.each(['memory', 'local'] as const)('a fork in a %s store', (kind) => {
  it('[EF3] changes alone, and gives its changes to the workspace it was made from', async () => {
    const { workspace } = await siteOf({ kind })
    await fill(workspace)
    const fork = await forkOf(workspace)
    expect(fork.forkedFrom).toBe((await workspace.checkpoints()).at(-1)?.id)
    expect([workspace.forkedFrom, await fork.changes()]).toEqual([undefined, []])
    await fork.write('/a', 'two')
    await fork.write('/same', 'two')
    await fork.write('/new', 'n')
    await fork.write('/both', 'theirs')
    await fork.delete('/d', { recursive: true })
    await workspace.write('/both', 'ours')
    await workspace.write('/same', 'two')
    expect(await workspace.readText('/a')).toBe('one')
    expect(await fork.diff({ path: '/a' })).toContain('-one')
    const theirs = await filesOf(fork)
    const result = await workspace.merge(fork)
    expect(result.merged.map((change) => `${change.kind} ${change.path}`)).toEqual([
      'changed /a',
      'deleted /d',
      'deleted /d/x',
      'deleted /d/y',
      'created /new',
    ])
    expect(result).toMatchObject({ conflicts: [{ path: '/both', reason: 'it was changed here too' }], kept: [] })
    const texts = await Promise.all(['/a', '/both', '/new'].map((path) => workspace.readText(path)))
    expect([...texts, await workspace.exists('/d')]).toEqual(['two', 'ours', 'n', false])
    expect(await filesOf(fork)).toEqual(theirs)
    expect(await workspace.merge(fork)).toMatchObject({ merged: [], conflicts: [{ path: '/both' }] })
    await workspace.restore(result.undo ?? '')
    expect(await workspace.readText('/a')).toBe('one')
    expect(await workspace.readText('/d/x')).toBe('x')
  })

  it('[EF3] merges chosen paths, and says what a merge would do', async () => {
    const { workspace } = await siteOf({ kind })
    await fill(workspace)
    const fork = await forkOf(workspace)
    await fork.write('/made/deep/file', 'n', { parents: true })
    await fork.write('/made/other', 'o')
    await fork.write('/a', 'two')
    const before = await filesOf(workspace)
    const dry = await workspace.merge(fork, { paths: ['made/deep/file'], dryRun: true })
    expect(dry.merged.map(({ path }) => path)).toEqual(['/made', '/made/deep', '/made/deep/file'])
    expect([dry.undo, await filesOf(workspace)]).toEqual([undefined, before])
    expect((await workspace.merge(fork, { paths: ['made/deep/file'] })).merged).toEqual(dry.merged)
    expect([await workspace.readText('/a'), await workspace.exists('/made/other')]).toEqual(['one', false])
    for (const path of ['/both', '/missing']) {
      const failure = await failureOf(workspace.merge(fork, { paths: ['/a', path] }))
      expect(failure).toMatchObject({ code: 'EINVAL', path, remedy: 'name paths of its `changes`' })
    }
    expect(await workspace.readText('/a')).toBe('one')
  })

  it('[EF3] a directory that holds work of this workspace stays, and so does an entry whose directory is gone', async () => {
    const { workspace } = await siteOf({ kind })
    await fill(workspace)
    const fork = await forkOf(workspace)
    await fork.delete('/d', { recursive: true })
    await workspace.write('/d/ours', 'o')
    const first = await workspace.merge(fork)
    expect(first.conflicts.map(({ path }) => path)).toEqual(['/d'])
    expect(Object.keys(await filesOf(workspace))).toEqual(expect.arrayContaining(['/d', '/d/ours']))
    expect(await workspace.exists('/d/x')).toBe(false)
    await workspace.restore(first.undo ?? '')
    const second = await forkOf(workspace)
    await second.write('/d/theirs', 't')
    await workspace.delete('/d', { recursive: true })
    expect((await workspace.merge(second)).conflicts.map(({ path }) => path)).toEqual(['/d/theirs'])
    expect(await workspace.exists('/d')).toBe(false)
  })

  it('[EF3] an edit during a merge is not overwritten', async () => {
    let edit = async (): Promise<unknown> => undefined
    const checkpoints = meddling(createCheckpoints({ stateDirectory: `${await ownDirectory()}/kept` }), () => edit())
    await using root = await createScratchDirectory()
    const adapter = kind === 'memory' ? createMemoryAdapter() : await createLocalAdapter({ root: root.path })
    await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], checkpoints })
    await fill(workspace)
    await using fork = await workspace.fork()
    for (const path of ['/a', '/both', '/new', '/same']) await fork.write(path, 'theirs')
    await fork.delete('/d/x')
    await fork.delete('/d/y')
    edit = async () => {
      for (const path of ['/a', '/new', '/d/x']) await workspace.write(path, 'an edit')
      await workspace.delete('/both')
    }
    const { merged, conflicts } = await workspace.merge(fork)
    expect(merged.map(({ path }) => path)).toEqual(['/d/y', '/same'])
    expect(conflicts.map(({ path }) => path).sort()).toEqual(['/a', '/both', '/d/x', '/new'])
    for (const path of ['/a', '/new', '/d/x']) expect(await workspace.readText(path), path).toBe('an edit')
    expect([await workspace.exists('/both'), await workspace.readText('/same')]).toEqual([false, 'theirs'])
  })

  it('[EF3] runs commands beside one another, each in its own files', async () => {
    const { workspace } = await siteOf({ kind, executors: [createVirtualExecutor()] })
    await fill(workspace)
    const forks = [await forkOf(workspace), await forkOf(workspace), await forkOf(workspace)]
    const run = (one: Workspace, name: string) => one.exec(`echo ${name} > a; echo ${name} > ${name}; ls /tmp; pwd`)
    const results = await Promise.all([workspace, ...forks].map((one, index) => run(one, `by${index}`)))
    expect(results.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(Array(4).fill([0, `${workspace.root}\n`]))
    for (const [index, one] of [workspace, ...forks].entries()) expect(await one.readText('/a')).toBe(`by${index}\n`)
    for (const [index, fork] of forks.entries())
      expect(await workspace.merge(fork)).toMatchObject({
        merged: [{ path: `/by${index + 1}` }],
        conflicts: [{ path: '/a' }],
      })
  })

  it('[EF3] is a workspace like any other: it has checkpoints, tries and forks of its own', async () => {
    const { workspace } = await siteOf({ kind, executors: [createVirtualExecutor()] })
    await fill(workspace)
    const fork = await forkOf(workspace)
    const { id } = await fork.checkpoint()
    await (await fork.try('rm a', { exclusive: true })).drop()
    const second = await forkOf(fork)
    await second.write('/a', 'of the second')
    expect(await failureOf(workspace.merge(second))).toMatchObject({ code: 'EINVAL', operation: 'merge' })
    await fork.merge(second)
    expect((await workspace.merge(fork)).merged.map(({ path }) => path)).toEqual(['/a'])
    await fork.restore(id)
    expect([await fork.readText('/a'), await workspace.readText('/a')]).toEqual(['one', 'of the second'])
  })
})

describe('a fork on a disk', () => {
  it('[UN4] [EF3] follows the rules: what they deny shows nowhere, what they protect stays, and each change is in the audit', async () => {
    const scratch = await createScratchDirectory()
    onTestFinished(() => scratch.remove())
    const [root, copy] = [await scratch.createDirectory('root'), await scratch.createDirectory('copy')]
    const put = (place: string, text: string): void => {
      for (const name of ['hidden', 'fixed', 'free']) {
        mkdirSync(join(place, name), { recursive: true })
        writeFileSync(join(place, name, 'file'), text)
      }
    }
    put(root, 'classified before')
    const { workspace } = await siteOf({ root, rules: [rules.deny('/hidden'), rules.readOnly('/fixed')] })
    const fork = await forkOf(workspace, { directory: copy })
    for (const call of [fork.read('/hidden/file'), fork.write('/fixed/file', 'x')])
      expect((await failureOf(call)).code).toBe('EACCES')
    // as a program that outlived its command, or a workspace of other rules
    put(copy, 'classified after')
    writeFileSync(join(copy, 'fixed', 'new'), 'classified')
    const shown = JSON.stringify([await fork.changes(), await fork.diff()])
    expect(shown).not.toMatch(/hidden/u)
    await fork.close()
    const { workspace: loose } = await siteOf({ root: copy })
    const events: AccessEvent[] = []
    workspace.on('access', (event) => events.push(event))
    for (const dryRun of [true, false]) {
      const { merged, conflicts, kept } = await workspace.merge(loose, { dryRun })
      expect(merged.map(({ path }) => path)).toEqual(['/free/file'])
      expect([conflicts, kept.map(({ path }) => path)]).toEqual([[], ['/fixed/file', '/fixed/new']])
      expect(kept[0]?.reason).toContain('read-only')
    }
    expect(JSON.stringify(events)).not.toMatch(/hidden/u)
    expect(events.filter(({ operation, path }) => operation === 'merge' && path === '/free/file')).toHaveLength(1)
    const texts = ['hidden', 'fixed', 'free'].map((name) => readFileSync(join(root, name, 'file'), 'utf8'))
    expect(texts).toEqual(['classified before', 'classified before', 'classified after'])
    expect(readdirSync(join(root, 'fixed'))).toEqual(['file'])
  })

  it('[EF3] keeps moves and hard links whole: a part in conflict keeps the rest', async () => {
    const { workspace, root } = await siteOf()
    await fill(workspace)
    const beside = await createScratchDirectory()
    onTestFinished(() => beside.remove())
    const fork = await forkOf(workspace, { directory: beside.path })
    await fork.move('/d', '/moved')
    await fork.move('/a', '/elsewhere')
    await workspace.write('/d/x', 'ours')
    const { merged, conflicts } = await workspace.merge(fork)
    expect(merged).toMatchObject([{ kind: 'moved', path: '/elsewhere', from: '/a' }])
    expect(conflicts.map(({ path }) => path).sort()).toEqual(['/d', '/d/x', '/d/y', '/moved', '/moved/x', '/moved/y'])
    expect(readdirSync(root).sort()).toEqual(['both', 'd', 'elsewhere', 'same'])
    expect(await workspace.readText('/d/y')).toBe('y')
  })

  it('[EF3] keeps a moved entry whose new place is taken during the merge', async () => {
    await using root = await createScratchDirectory()
    const inRoot = (path: string) => join(root.path, path)
    const meddle = (): void => {
      for (const name of ['elsewhere', 'moved']) writeFileSync(inRoot(name), 'of a program')
    }
    const checkpoints = meddling(createCheckpoints({ stateDirectory: `${await ownDirectory()}/kept` }), meddle)
    const adapter = await createLocalAdapter({ root: root.path })
    await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], checkpoints })
    await fill(workspace)
    await using fork = await workspace.fork()
    await fork.move('/a', '/elsewhere')
    await fork.move('/d', '/moved')
    await fork.move('/same', '/new')
    const { merged, conflicts } = await workspace.merge(fork)
    expect(merged).toMatchObject([{ kind: 'moved', path: '/new', from: '/same' }])
    const taken = ['/a', '/d', '/d/x', '/d/y', '/elsewhere', '/moved', '/moved/x', '/moved/y']
    expect(conflicts.map(({ path }) => path).sort()).toEqual(taken)
    expect([readFileSync(inRoot('a'), 'utf8'), readFileSync(inRoot('d/y'), 'utf8')]).toEqual(['one', 'y'])
  })

  it('[EF3] keeps an entry that was moved over another one, which is in conflict', async () => {
    const { workspace, root } = await siteOf()
    await fill(workspace)
    const fork = await forkOf(workspace)
    await fork.move('/d/x', '/both', { overwrite: true })
    await workspace.write('/both', 'ours')
    const { merged, conflicts } = await workspace.merge(fork)
    expect([merged, conflicts.map(({ path }) => path).sort()]).toEqual([[], ['/both', '/d/x']])
    expect(readFileSync(join(root, 'd/x'), 'utf8')).toBe('x')
  })

  it('[EF3] in a directory stays after its close, and another process finds and merges it', async () => {
    const stateDirectory = `${await ownDirectory()}/kept`
    const beside = await createScratchDirectory()
    onTestFinished(() => beside.remove())
    const first = await siteOf({ stateDirectory })
    await fill(first.workspace)
    const fork = await first.workspace.fork({ directory: beside.path })
    const { forkedFrom } = fork
    await fork.close()
    await first.workspace.close()
    writeFileSync(join(beside.path, 'a'), 'of a program')
    const checkpoints = createCheckpoints({ stateDirectory, maxAge: 1 })
    const open = (root: string) =>
      createWorkspace({ mounts: [{ at: '/', adapter: () => createLocalAdapter({ root }) }], checkpoints })
    await using workspace = await open(first.root)
    const other = await ownDirectory()
    await using stranger = await open(other)
    {
      await using again = await open(beside.path)
      expect(again.forkedFrom).toBe(forkedFrom)
      expect(await again.changes()).toMatchObject([{ path: '/a', kind: 'changed' }])
      expect(await failureOf(stranger.merge(again))).toMatchObject({ code: 'EINVAL', operation: 'merge' })
      expect((await workspace.merge(again)).merged).toMatchObject([{ path: '/a' }])
      expect(await workspace.readText('/a')).toBe('of a program')
    }
    rmSync(beside.path, { recursive: true })
    mkdirSync(beside.path)
    await using anew = await open(beside.path)
    expect(anew.forkedFrom).toBeUndefined()
    expect(await failureOf(workspace.merge(anew))).toMatchObject({ code: 'EINVAL' })
  })

  it('[EF3] that caught another state than the checkpoint never undoes it', async () => {
    const { root } = await siteOf()
    const adapter = await createLocalAdapter({ root })
    onTestFinished(() => adapter.close())
    // of the same size and time
    const write = (text: string): void => {
      writeFileSync(join(root, 'a'), text)
      utimesSync(join(root, 'a'), 1_600_000_000, 1_600_000_000)
    }
    const createFork = adapter.createFork?.bind(adapter)
    adapter.createFork = async (options) => {
      write('two')
      const copy = await createFork?.(options)
      write('one')
      return copy ?? adapter
    }
    write('one')
    const { workspace } = await siteOf({ adapter })
    const fork = await forkOf(workspace)
    expect([await fork.readText('/a'), await fork.changes()]).toEqual(['two', []])
    expect(await workspace.merge(fork)).toMatchObject({ merged: [], conflicts: [] })
    expect(await workspace.readText('/a')).toBe('one')
    await fork.write('/a', 'three')
    expect(await workspace.merge(fork)).toMatchObject({ merged: [], conflicts: [{ path: '/a' }] })
    expect(await workspace.readText('/a')).toBe('one')
  })

  it('[UN5] names files that were too large to save, and leaves them as they are', async () => {
    const { workspace } = await siteOf({ maxFileBytes: 10 })
    await workspace.write('/large', 'x'.repeat(20))
    const fork = await forkOf(workspace)
    await fork.append('/large', 'more')
    await fork.write('/other', 'y'.repeat(20))
    await fork.write('/small', 's')
    const { merged, kept } = await workspace.merge(fork)
    expect(merged.map(({ path }) => path)).toEqual(['/small'])
    expect(kept.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
      '/large: its bytes were not saved',
      '/other: its bytes were not saved',
    ])
  })
})

describe('a fork or a merge is refused', () => {
  it('without the engine, with the line to add', async () => {
    await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }] })
    for (const failure of [await failureOf(workspace.fork()), await failureOf(workspace.merge(workspace))])
      expect(failure).toMatchObject({
        code: 'ENOTSUP',
        remedy: expect.stringContaining('createCheckpoints(') as string,
      })
  })

  it('where nothing can be written, and for a store that cannot be copied', async () => {
    const adapter = createMemoryAdapter()
    const checkpoints = createCheckpoints()
    await using fixed = await createWorkspace({ mounts: [{ at: '/', adapter, access: 'read-only' }], checkpoints })
    expect(await failureOf(fixed.fork())).toMatchObject({ code: 'EROFS', operation: 'fork' })
    const without = Object.assign(createMemoryAdapter(), { createFork: undefined })
    const { workspace } = await siteOf({ adapter: without as never })
    expect(await failureOf(workspace.fork())).toMatchObject({
      ...{ code: 'ENOTSUP', operation: 'fork', path: '/', reason: 'its store (memory) cannot be forked' },
      remedy: expect.stringContaining('createReplicaAdapter') as string,
    })
  })

  it('inside a try and while one is open, and while commands, sessions or changing calls run', async () => {
    const { workspace } = await siteOf({ kind: 'memory', executors: [createVirtualExecutor()] })
    const fork = await forkOf(workspace)
    const codes: string[] = []
    const attempt = await workspace.try(async (view) => {
      codes.push((await failureOf(view.fork())).code, (await failureOf(workspace.fork())).code)
      codes.push((await failureOf(workspace.merge(fork))).code)
    })
    await attempt.drop()
    for (const one of [workspace, fork]) {
      const background = await one.start('read -r line', { writableStdin: true, id: 'server' })
      const failure = await failureOf(workspace.merge(fork))
      expect(failure).toMatchObject({ code: 'EBUSY', reason: expect.stringContaining('`server`') as string })
      codes.push((await failureOf(one.fork())).code)
      background.kill('SIGKILL')
      await background.wait()
    }
    expect(codes).toEqual(Array(5).fill('EBUSY'))
  })

  it('for a directory that is not for one disk, holds something, or is reached by commands', async () => {
    const { workspace } = await siteOf({ kind: 'memory' })
    const free = `${await ownDirectory()}/free`
    expect(await failureOf(workspace.fork({ directory: free }))).toMatchObject({ code: 'EINVAL', operation: 'fork' })
    expect(await failureOf(workspace.fork({ directory: 'relative' }))).toMatchObject({ code: 'EINVAL' })
    const { workspace: disk, root, stateDirectory } = await siteOf()
    await disk.write('/a', 'x')
    const full = await ownDirectory()
    writeFileSync(join(full, 'file'), 'x')
    for (const directory of [full, join(root, 'inside'), root, stateDirectory]) {
      const failure = await failureOf(disk.fork({ directory }))
      expect(failure).toMatchObject({ code: 'EINVAL', operation: 'fork' })
      expect(failure.message).not.toContain(directory)
    }
    expect([readdirSync(root), readdirSync(full)]).toEqual([['a'], ['file']])
    await (await disk.fork()).close()
  })

  it('of itself, of another workspace, of one that is no fork, and of a closed fork', async () => {
    const { workspace } = await siteOf({ kind: 'memory' })
    const { workspace: other } = await siteOf({ kind: 'memory' })
    const fork = await forkOf(workspace)
    for (const [one, given] of [
      [workspace, workspace],
      [workspace, other],
      [other, fork],
      [fork, fork],
      [fork, workspace],
      [workspace, {}],
    ] as const)
      expect(await failureOf(one.merge(given as Workspace))).toMatchObject({ code: 'EINVAL', operation: 'merge' })
    await fork.close()
    expect(await failureOf(workspace.merge(fork))).toMatchObject({ code: 'ECLOSED', operation: 'merge' })
    await workspace.close()
    expect(await failureOf(workspace.fork())).toMatchObject({ code: 'ECLOSED' })
  })

  it('where the executor serves one workspace only', async () => {
    let users = 0
    const virtual = createVirtualExecutor()
    const single: typeof virtual = {
      ...virtual,
      async attach(view) {
        if (users > 0) throw await failureOf(createWorkspace({ mounts: [] } as never))
        users += 1
        return virtual.attach(view)
      },
    }
    const { workspace } = await siteOf({ kind: 'memory', executors: [single, virtual] })
    expect(await failureOf(workspace.fork())).toMatchObject({ code: 'ENOEXECUTOR', operation: 'fork' })
  })
})
