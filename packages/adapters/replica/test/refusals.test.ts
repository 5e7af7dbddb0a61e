import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { defineAdapter, type Entry, keyValueDriver, type StorageAdapter, wrapAdapter } from '@ws/core/adapter'
import { describe, expect, it } from 'vitest'

import { createReplicaAdapter } from '../src/index.ts'
import { at, failureOf, filesOf, machineOf, ownDirectory, put, takeAway } from './support/site.ts'

/** The message of the refusal: one sentence with the remedy, and no path of this machine. */
async function refusal(work: Promise<unknown>): Promise<string> {
  const { code, message, remedy } = await failureOf(work)
  expect(remedy).toBeTruthy()
  expect(message).not.toMatch(/\/tmp|ws-replica|\/proc/u)
  return `${code} ${message.split(': ').slice(2).join(': ')}`
}

const named = (store: StorageAdapter, identity: string): StorageAdapter => Object.assign(store, { identity })

describe('a replica is refused, and nothing is overwritten', () => {
  it('over a store that checks no conditions, keeps no links, or is read-only', async () => {
    const values = new Map<string, Uint8Array>()
    const map = {
      get: (key: string) => values.get(key),
      set: (key: string, value: Uint8Array) => values.set(key, value),
      delete: (key: string) => values.delete(key),
      keys: () => [...values.keys()],
    }
    const plain = defineAdapter(keyValueDriver(map, { name: 'map' }))
    expect(await refusal(createReplicaAdapter({ store: plain }))).toContain(
      'ENOTSUP the store does not check conditions',
    )
    const memory = createMemoryAdapter()
    const linkless = Object.assign(createMemoryAdapter(), { capabilities: { ...memory.capabilities, symlinks: false } })
    expect(await refusal(createReplicaAdapter({ store: linkless }))).toContain("`symlinks: 'rclonelink'`")
    const readOnly = createMemoryAdapter({ readOnly: true })
    expect(await refusal(createReplicaAdapter({ store: readOnly }))).toContain('EROFS the store is read-only')
  })

  it('in a directory that holds other files', async () => {
    const store = createMemoryAdapter({ files: { '/a': 'a' } })
    const directory = await ownDirectory()
    await writeFile(`${directory}/mine.txt`, 'mine')
    expect(await refusal(createReplicaAdapter({ store, directory }))).toContain(
      'EINVAL the directory holds other files',
    )
    const half = await ownDirectory()
    await mkdir(`${half}/files`)
    await mkdir(`${half}/state`, { mode: 0o700 })
    await writeFile(`${half}/files/mine.txt`, 'mine')
    expect(await refusal(createReplicaAdapter({ store, directory: half }))).toContain(
      'EINVAL the directory holds other',
    )
    expect([await readdir(directory), await readdir(`${half}/files`)]).toEqual([['mine.txt'], ['mine.txt']])
    expect(await filesOf(store)).toEqual({ '/a': 'a' })
  })

  it.each([
    ['whose stores have names', 'one', 'two'],
    ['whose stores have none', undefined, undefined],
  ])('in a directory of another store, %s', async (_how, first, second) => {
    const directory = `${await ownDirectory()}/r`
    const store = createMemoryAdapter({ files: { '/a': 'a' } })
    if (first !== undefined) named(store, first)
    const one = await createReplicaAdapter({ store, directory })
    await one.close()
    const other = createMemoryAdapter({ files: { '/b': 'b' } })
    if (second !== undefined) named(other, second)
    expect(await refusal(createReplicaAdapter({ store: other, directory }))).toContain('a copy of another store')
    expect(await filesOf(other)).toEqual({ '/b': 'b' })
    const again = await createReplicaAdapter({ store, directory })
    expect(await filesOf(again)).toEqual({ '/a': 'a' })
    await again.close()
  })

  it('while another process, or another replica of this one, has the directory', async () => {
    const directory = `${await ownDirectory()}/r`
    const store = createMemoryAdapter()
    const { replica } = await machineOf(store, { directory })
    const isOpen = 'EBUSY the directory is open already, in this process or in another one'
    expect(await refusal(createReplicaAdapter({ store, directory }))).toContain(isOpen)
    await replica.close()
    const program = new URL('support/hold.ts', import.meta.url).pathname
    const child = fork(program, [directory], {
      execArgv: ['--conditions=@ws/source', '--disable-warning=ExperimentalWarning'],
    })
    await once(child, 'message')
    expect(await refusal(createReplicaAdapter({ store, directory }))).toContain(isOpen)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await machineOf(store, { directory })
  })

  it('above its limits, before anything is copied', async () => {
    const store = createMemoryAdapter({ files: { '/a': 'aaaa', '/b': 'bbbb', '/c': 'cccc' } })
    const directory = `${await ownDirectory()}/r`
    for (const [limit, word] of [
      [{ maxFiles: 2 }, 'raise `maxFiles`'],
      [{ maxBytes: 10 }, 'raise `maxBytes`'],
      [{ maxFileBytes: 3 }, 'raise `maxFileBytes`'],
    ] as const)
      expect(await refusal(createReplicaAdapter({ store, directory, ...limit }))).toContain(word)
    expect(await readdir(`${directory}/files`)).toEqual([])
  })

  it.each([
    [{}, 'store'],
    [{ store: 5 }, 'store'],
    [{ directory: 'relative' }, 'directory'],
    [{ persist: 'always' }, 'persist'],
    [{ machine: 'a/b' }, 'machine'],
    [{ owner: { uid: 0, gid: 0 } }, 'owner.uid'],
    [{ maxFiles: 0 }, 'maxFiles'],
    [{ maxFileBytes: 0.5 }, 'maxFileBytes'],
    [{ rebuild: ['a/b'] }, 'rebuild[0]'],
    [{ onEvent: true }, 'onEvent'],
    [{ stateDirectory: '/x' }, 'stateDirectory'],
  ])('[RU7] with an option that is wrong: %o', async (given, name) => {
    const store = createMemoryAdapter()
    const options = Object.keys(given).length === 0 ? {} : { store, ...given }
    expect(await refusal(createReplicaAdapter(options as never))).toContain(`\`${name}\``)
  })
})

describe('a flush says what it could not save, and saves the rest', () => {
  it('[RE2] files above the limit, and names that the store refuses', async () => {
    const store = createMemoryAdapter()
    const { replica, root, events } = await machineOf(store, { persist: 'flush', maxFileBytes: 10 })
    await writeFile(`${root}/large.bin`, 'x'.repeat(11))
    await writeFile(`${root}/small.bin`, 'x')
    const failure = await failureOf(replica.flush() as Promise<void>)
    expect(failure).toMatchObject({ code: 'ENOTSUP', path: '/large.bin' })
    expect(await filesOf(store)).toEqual({ '/small.bin': 'x' })
    const left = { path: '/large.bin', reason: 'it has more than 10 bytes', holdsBytes: true }
    expect(replica.status().leftOut).toEqual([left])
    expect(replica.status().lastFlush).toBeUndefined()
    await failureOf(replica.flush() as Promise<void>)
    expect(events).toEqual([{ event: 'left-out', ...left }])
  })

  it('[RE4] a store that is away: the change waits on the disk, calls say so, and the next flush goes on', async () => {
    const store = createMemoryAdapter({ files: { '/a': 'a' } })
    const { replica } = await machineOf(store)
    const comeBack = takeAway(store)
    const failure = await failureOf(put(replica, '/a', 'mine'))
    expect(failure).toMatchObject({ code: 'EBACKEND', path: '/a' })
    expect(failure.message).toContain('is kept on this machine, and is not in the store')
    expect(replica.status()).toMatchObject({ dirty: ['/a'], waitingBytes: 4 })
    // nor does closing lose it
    expect(await failureOf(replica.close())).toMatchObject({ code: 'EBACKEND' })
    comeBack()
    await replica.flush()
    expect(await filesOf(store)).toEqual({ '/a': 'mine' })
  })

  it('[RE4] a store that is closed while something waits: a directory of its own keeps it for the next replica', async () => {
    const directory = `${await ownDirectory()}/r`
    const store = createMemoryAdapter({ files: { '/a': 'a' } })
    const own = wrapAdapter(store, { name: 'store', capabilities: store.capabilities, shared: true })
    const replica = await createReplicaAdapter({ store: own, directory })
    await own.close()
    expect(await failureOf(put(replica, '/a', 'mine'))).toMatchObject({ code: 'ECLOSED', path: '/a' })
    expect(await failureOf(replica.close())).toMatchObject({
      code: 'ECLOSED',
      operation: 'close',
      reason: expect.stringContaining('is kept on this machine, and is not in the store'),
      remedy: 'make a replica in the same directory again: it pushes what waits',
    })
    await replica.close()
    const next = await createReplicaAdapter({ store, directory })
    expect(await filesOf(store)).toEqual({ '/a': 'mine' })
    await next.close()
  })

  it('[RE4] an answer that was lost is found out, and nothing is done twice', async () => {
    const store = createMemoryAdapter({ files: { '/a': 'a', '/gone': 'g' } })
    const { replica, root } = await machineOf(store, { persist: 'flush' })
    const { write, delete: remove } = store
    const { WorkspaceError } = await import('@ws/core')
    const lost = new WorkspaceError({ code: 'ETIMEDOUT', operation: 'write', reason: 'took too long', remedy: 'look' })
    let count = 0
    store.write = async (...given) => {
      await write.apply(store, given)
      count += 1
      throw lost
    }
    store.delete = async (...given) => {
      await remove.apply(store, given)
      throw lost
    }
    await writeFile(`${root}/a`, 'mine')
    await replica.delete(at('/gone'))
    await failureOf(replica.flush() as Promise<void>)
    store.write = async (...given) => {
      count += 1
      return write.apply(store, given)
    }
    store.delete = remove
    await replica.flush()
    expect(await filesOf(store)).toEqual({ '/a': 'mine' })
    expect([count, replica.status().conflicts]).toEqual([2, []])
  })

  it('[HO5] a name that is listed and not there is left out, and calls and commands go on', async () => {
    const store = createMemoryAdapter({ files: { '/a': 'a' } })
    const { replica, root } = await machineOf(store)
    const list = store.list.bind(store)
    const ghost = { path: at('/ghost'), name: 'ghost', type: 'file', size: 1, version: 'g' } as Entry
    store.list = async function* (...given) {
      yield* list(...given)
      yield ghost
    }
    await replica.refresh?.()
    const reason = 'the store lists it in another way than it gives it'
    expect(replica.status().leftOut).toEqual([{ path: '/ghost', reason, holdsBytes: false }])
    const end = await replica.beginCommand?.()
    await writeFile(`${root}/b`, 'b')
    expect(await end?.()).toEqual([{ path: '/ghost', reason: `is in the store, and not on this machine: ${reason}` }])
    expect(await failureOf(replica.read(at('/ghost')))).toMatchObject({ code: 'ENOTSUP', path: '/ghost' })
    store.list = list
    await replica.refresh?.()
    expect([await filesOf(store), replica.status().leftOut]).toEqual([{ '/a': 'a', '/b': 'b' }, []])
  })

  it('[RE4] a listing that lies about what is gone deletes nothing', async () => {
    const store = createMemoryAdapter({ files: { '/a': 'a', '/b': 'b' } })
    const { replica } = await machineOf(store)
    const { list } = store
    store.list = (...given) => {
      const inner = list.apply(store, given)
      const next = async (): Promise<IteratorResult<never>> => {
        const item = await inner.next()
        return item.done !== true && item.value.path === '/b' ? next() : (item as never)
      }
      const listing = { next, return: inner.return?.bind(inner), [Symbol.asyncIterator]: () => listing }
      return listing as never
    }
    await replica.refresh?.().catch(() => undefined)
    expect(await filesOf(Object.assign(replica, {}))).toEqual({ '/a': 'a', '/b': 'b' })
  })
})
