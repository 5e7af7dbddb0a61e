import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createCheckpoints } from '@ws/snapshots'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import type { ReplicaEvent } from '../src/index.ts'
import { at, failureOf, filesOf, openMachine, ownDirectory, put, takeAway } from './support/site.ts'

/** Files that the store does not give before it is told to. */
interface Held {
  readonly store: StorageAdapter
  /** Lets one file, or all, be read. */
  readonly release: (path?: string) => void
  /** The files that were asked for, in turn. */
  readonly asked: string[]
}

function held(files: Record<string, string>, holds = (path: string): boolean => path in files): Held {
  const store = createMemoryAdapter({ files })
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const gateOf = (path: string): PromiseWithResolvers<void> => {
    const gate = gates.get(path) ?? Promise.withResolvers<void>()
    gates.set(path, gate)
    return gate
  }
  const asked: string[] = []
  let isOpen = false
  const { read } = store
  store.read = async (path, options) => {
    asked.push(path)
    if (!isOpen && holds(path)) {
      const ended = Promise.withResolvers<void>()
      const { signal } = options ?? {}
      signal?.addEventListener('abort', () => ended.reject(signal.reason as Error), { once: true })
      await Promise.race([gateOf(path).promise, ended.promise])
    }
    return read.call(store, path, options)
  }
  const release = (path?: string): void => {
    if (path === undefined) isOpen = true
    for (const one of path === undefined ? Object.keys(files) : [path]) gateOf(one).resolve()
  }
  return { store, release, asked }
}

/** Whether work has ended by now. */
async function isOver(work: Promise<unknown>): Promise<boolean> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  return (await Promise.race([work.then(() => 'over'), Promise.resolve('waits')])) === 'over'
}

const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`/many/f${index}.txt`, `${index}`]))

describe('files that are still being copied', () => {
  it('[RE7] a call fetches its one file at once, and the replica is there before the others', async () => {
    const { store, release, asked } = held({ ...many, '/wanted.txt': 'wanted' }, (path) => path !== '/wanted.txt')
    const { replica, root } = await openMachine(store)
    expect(replica.status().copying).toMatchObject({ total: { files: 101 } })
    const { bytes } = await replica.read(at('/wanted.txt'))
    expect(new TextDecoder().decode(bytes)).toBe('wanted')
    expect(asked.filter((path) => path === '/wanted.txt')).toEqual(['/wanted.txt'])
    expect((await replica.stat(at('/wanted.txt'))).size).toBe(6)
    // a directory is listed when its own files are there
    expect(await readdir(root)).toContain('many')
    const names = Array.fromAsync(replica.list(at('/')), ({ name }) => name)
    expect((await names).sort()).toEqual(['many', 'wanted.txt'])
    const inMany = Array.fromAsync(replica.list(at('/many')))
    expect(await isOver(inMany)).toBe(false)
    release()
    expect((await inMany).length).toBe(100)
    await replica.refresh?.()
    expect(replica.status().copying).toBeUndefined()
    expect((await replica.verify()).differing).toEqual([])
  })

  it('[RE7] are counted in events and in the status', async () => {
    const { store, release } = held({ '/a.txt': 'aa', '/b.txt': 'bbbb' })
    const events: ReplicaEvent[] = []
    const { replica } = await openMachine(store, { onEvent: (event) => events.push(event) })
    const total = { files: 2, bytes: 6 }
    expect(replica.status().copying).toEqual({ copied: { files: 0, bytes: 0 }, total })
    release()
    await replica.refresh?.()
    expect(events).toEqual([{ event: 'copying', copied: total, total }])
  })

  it.each<[string, (replica: StorageAdapter) => Promise<unknown>, Record<string, string>]>([
    ['write', (replica) => put(replica, '/d/a.txt', 'mine'), { '/d': 'directory', '/d/a.txt': 'mine' }],
    [
      'append',
      async (replica) => replica.append?.(at('/d/a.txt'), Buffer.from('!')),
      { '/d': 'directory', '/d/a.txt': 'a!' },
    ],
    ['delete', (replica) => replica.delete(at('/d'), { recursive: true }), {}],
    ['move', (replica) => replica.move(at('/d'), at('/e')), { '/e': 'directory', '/e/a.txt': 'a' }],
    [
      'copy',
      (replica) => replica.copy(at('/d/a.txt'), at('/c.txt')),
      { '/d': 'directory', '/d/a.txt': 'a', '/c.txt': 'a' },
    ],
  ])('[RE1] %s waits for what it changes, and for nothing else', async (_, call, expected) => {
    const { store, release } = held({ '/d/a.txt': 'a', '/other.txt': 'other' })
    const { replica } = await openMachine(store)
    const called = call(replica)
    expect(await isOver(called)).toBe(false)
    release('/d/a.txt')
    await called
    expect(replica.status().copying?.copied.files).toBe(1)
    release()
    await replica.refresh?.()
    const files = { '/other.txt': 'other', ...expected }
    expect([await filesOf(replica), await filesOf(store)]).toEqual([files, files])
  })

  it('a condition on a file that is not there yet holds as on one that is', async () => {
    const { store, release } = held({ '/a.txt': 'a' })
    const { replica } = await openMachine(store)
    const made = replica.write(at('/a.txt'), Buffer.from('new'), { ifVersion: 'absent' })
    release()
    expect(await failureOf(made)).toMatchObject({ code: 'ECONFLICT', path: '/a.txt' })
  })

  it('[RE3] a program that makes a file of the same name meanwhile loses nothing', async () => {
    const { store, release } = held({ '/a.txt': 'theirs', '/b.txt': 'b' })
    const { replica, root } = await openMachine(store, { persist: 'flush' })
    await writeFile(join(root, 'a.txt'), 'mine')
    release()
    await replica.flush().catch(() => undefined)
    await replica.refresh?.()
    await replica.flush().catch(() => undefined)
    expect(Object.values(await filesOf(store)).sort()).toEqual(['b', 'mine', 'theirs'])
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('theirs')
  })

  it('a file that is another by now, or gone, is as the store has it', async () => {
    const { store, release } = held({ '/a.txt': 'a', '/b.txt': 'b', '/c.txt': 'c' })
    const { replica } = await openMachine(store, { persist: 'flush' })
    await put(store, '/a.txt', 'newer')
    await store.delete(at('/b.txt'))
    await store.delete(at('/c.txt'))
    await store.createSymlink?.(at('/c.txt'), 'a.txt')
    release()
    await replica.refresh?.()
    expect(await filesOf(replica)).toEqual({ '/a.txt': 'newer', '/c.txt': '-> a.txt' })
  })

  it('[RE4] a store that fails: the call and the command say so, and the next one goes on', async () => {
    const store = createMemoryAdapter({ files: { '/a.txt': 'a', '/b.txt': 'b' } })
    const comeBack = takeAway(store)
    const { replica, events } = await openMachine(store)
    expect(await failureOf(replica.stat(at('/a.txt')))).toMatchObject({ code: 'EBACKEND', operation: 'stat' })
    const begun = Promise.resolve(replica.beginCommand?.())
    expect(await failureOf(begun)).toMatchObject({ code: 'EBACKEND', operation: 'exec' })
    expect(events).toMatchObject([{ event: 'copy-failed', error: { code: 'EBACKEND' } }])
    comeBack()
    await replica.refresh?.()
    expect(await filesOf(replica)).toEqual({ '/a.txt': 'a', '/b.txt': 'b' })
  })

  it('[RE4] what was missing when it was closed comes with the next replica in the directory, and nothing is deleted', async () => {
    const directory = `${await ownDirectory()}/r`
    const files = { '/a.txt': 'a', '/d/b.txt': 'b' }
    const first = held(files)
    const { replica } = await openMachine(first.store, { directory })
    first.release('/a.txt')
    await replica.read(at('/a.txt'))
    const waiting = failureOf(replica.read(at('/d/b.txt')))
    await replica.close()
    expect(await waiting).toMatchObject({ code: 'ECLOSED', path: '/d/b.txt' })
    const all = { ...files, '/d': 'directory' }
    first.release()
    const second = await openMachine(first.store, { directory })
    await second.replica.refresh?.()
    for (const side of [first.store, second.replica]) expect(await filesOf(side)).toEqual(all)
  })

  it('[RE4] a replica that stays open, since its last push failed, still gets every file', async () => {
    const { store, release } = held({ '/a.txt': 'a', '/b.txt': 'b' })
    const { replica } = await openMachine(store, { persist: 'flush' })
    const comeBack = takeAway(store)
    await put(replica, '/new.txt', 'new')
    expect(await failureOf(replica.close())).toMatchObject({ code: 'EBACKEND' })
    comeBack()
    release()
    expect(await filesOf(replica)).toEqual({ '/a.txt': 'a', '/b.txt': 'b', '/new.txt': 'new' })
  })

  it('an abort ends the waiting, and not the copy', async () => {
    const { store, release } = held({ '/a.txt': 'a' })
    const { replica } = await openMachine(store)
    const reason = new Error('enough')
    const aborting = new AbortController()
    const waiting = replica.read(at('/a.txt'), { signal: aborting.signal })
    aborting.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    release()
    expect((await replica.read(at('/a.txt'))).bytes.length).toBe(1)
  })
})

// two sandboxes
describeWith(component('bubblewrap'), 'commands and checkpoints', () => {
  it.each(['command', 'flush'] as const)('[RE1] wait for the whole copy (persist: %s)', async (persist) => {
    const { store, release } = held({ '/a.txt': 'a', '/d/b.txt': 'b' })
    const { replica } = await openMachine(store, { persist })
    const workspace = await createWorkspace({
      mounts: [{ at: '/workspace', adapter: replica }],
      executors: [createBubblewrapExecutor()],
    })
    onTestFinished(() => workspace.close())
    const running = workspace.exec('cat a.txt d/b.txt')
    expect(await isOver(running)).toBe(false)
    release()
    expect((await running).stdout).toBe('ab')
  })

  it('[UN1] a checkpoint holds every file of the store', async () => {
    const { store, release } = held({ '/a.txt': 'a', '/d/b.txt': 'b' })
    const { replica } = await openMachine(store)
    const opening = createWorkspace({
      mounts: [{ at: '/workspace', adapter: replica }],
      executors: [createBubblewrapExecutor()],
      checkpoints: createCheckpoints({ stateDirectory: `${await ownDirectory()}/kept` }),
    })
    expect(await isOver(opening)).toBe(false)
    release()
    const workspace = await opening
    onTestFinished(() => workspace.close())
    const { id } = await workspace.checkpoint()
    await workspace.exec('rm -r a.txt d')
    await workspace.restore(id)
    expect(await filesOf(store)).toEqual({ '/a.txt': 'a', '/d': 'directory', '/d/b.txt': 'b' })
  })
})
