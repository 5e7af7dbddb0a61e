import { open, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import type { StorageAdapter } from '@ws/core/adapter'
import { describe, expect, it } from 'vitest'

import { at, machineOf, put } from './support/site.ts'

const size = 9 * 1024 ** 2 + 7

/** Bytes that differ from place to place. */
function bytesOf(seed: number): Uint8Array {
  const bytes = Buffer.alloc(size, seed)
  for (let index = 0; index < size - 4; index += 64) bytes.writeUInt32LE(index, index)
  return bytes
}

/** The calls that a store gets: with `whole` bytes, or with a `stream`. */
function watched(store: StorageAdapter): string[] {
  const calls: string[] = []
  const { read, readStream, write } = store
  store.read = (...given) => (calls.push(`read ${given[0]}`), read.apply(store, given))
  store.readStream = (...given) => (calls.push(`readStream ${given[0]}`), readStream.apply(store, given))
  store.write = (path, data, options) => {
    calls.push(`write ${path}: ${data instanceof Uint8Array ? 'whole' : 'stream'}`)
    return write.call(store, path, data, options)
  }
  return calls
}

describe('a large file', () => {
  it('[RE1] goes to the store and comes from it in pieces, with its bits and time', { tags: 'all' }, async () => {
    const store = createMemoryAdapter()
    const one = await machineOf(store, { persist: 'flush' })
    const calls = watched(store)
    await writeFile(join(one.root, 'large.bin'), bytesOf(1))
    await put(one.replica, '/small.txt', 'small')
    await one.replica.chmod?.(at('/large.bin'), 0o750)
    await one.replica.utimes?.(at('/large.bin'), { modifiedAt: 1_000_000_000_000 })
    await one.replica.flush()
    expect(calls.filter((call) => call.startsWith('write')).sort()).toEqual([
      'write /large.bin: stream',
      'write /small.txt: whole',
    ])
    const two = await machineOf(store, { persist: 'flush' })
    expect(calls.filter((call) => call === 'read /large.bin')).toEqual([])
    const { mode, modifiedAt } = await two.replica.stat(at('/large.bin'))
    expect([mode, modifiedAt]).toEqual([0o750, 1_000_000_000_000])
    expect(await two.replica.verify()).toMatchObject({ differing: [] })
    expect((await two.replica.verify()).digest).toBe((await one.replica.verify()).digest)
    expect((await readdir(two.root)).sort()).toEqual(['large.bin', 'small.txt'])
    expect((await stat(join(two.root, 'large.bin'))).uid).toBe((await stat(join(two.root, 'small.txt'))).uid)
  })

  it('[RE3] that both changed is kept twice', { tags: 'all' }, async () => {
    const store = createMemoryAdapter({ files: { '/large.bin': bytesOf(1) } })
    const { replica, root } = await machineOf(store, { persist: 'flush' })
    await writeFile(join(root, 'large.bin'), bytesOf(2))
    await store.write(at('/large.bin'), bytesOf(3))
    await expect(replica.flush()).rejects.toMatchObject({ code: 'ECONFLICT' })
    const [{ kept } = { kept: '' }] = replica.status().conflicts
    const same = async (path: string, seed: number): Promise<boolean> =>
      Buffer.compare((await store.read(at(path))).bytes, bytesOf(seed)) === 0
    expect([await same('/large.bin', 3), await same(kept, 2)]).toEqual([true, true])
    expect((await replica.verify()).differing).toEqual([])
  })

  it('[RE4] that changes while it is uploaded is in the store as a whole, or not at all', async () => {
    const store = createMemoryAdapter()
    const { replica, root } = await machineOf(store, { persist: 'flush' })
    const path = join(root, 'large.bin')
    await writeFile(path, bytesOf(1))
    const { write } = store
    const expected = bytesOf(1)
    for (const place of [0, size - 3]) expected.set([1, 2, 3], place)
    const stored: boolean[] = []
    let isFirst = true
    store.write = async (where, data, options) => {
      if (data instanceof Uint8Array) return write.call(store, where, data, options)
      const changed = async function* (): AsyncGenerator<Uint8Array> {
        for await (const piece of data) {
          yield piece
          if (!isFirst) continue
          isFirst = false
          const file = await open(path, 'r+')
          for (const place of [0, size - 3]) await file.write(new Uint8Array([1, 2, 3]), 0, 3, place)
          await file.close()
        }
      }
      const result = await write.call(store, where, changed(), options)
      stored.push(Buffer.compare((await store.read(where)).bytes, expected) === 0)
      return result
    }
    await replica.flush()
    expect(stored).toEqual([true]) // the first upload came to nothing
    expect(replica.status().lastFlush?.changedMeanwhile).toEqual(['/large.bin'])
  })

  it('[HO1] that is being copied cannot be exchanged for another one', async () => {
    const store = createMemoryAdapter()
    const { replica, root } = await machineOf(store, { persist: 'flush' })
    await store.write(at('/large.bin'), bytesOf(1))
    await writeFile(join(root, 'evil.bin'), bytesOf(2))
    const { readStream } = store
    let exchanged = 0
    store.readStream = async (...given) => {
      const { stat: status, stream } = await readStream.apply(store, given)
      const exchanging = async function* (): AsyncGenerator<Uint8Array, undefined> {
        for await (const piece of stream) yield piece
        // as a program in the directory can: the new file lies there under a hidden name
        for (const name of exchanged === 0 ? await readdir(root) : []) {
          if (!name.startsWith('.ws-tmp-')) continue
          await rename(join(root, name), join(root, 'taken.bin'))
          await rename(join(root, 'evil.bin'), join(root, name))
          exchanged += 1
        }
      }
      return { stat: status, stream: exchanging() }
    }
    await replica.refresh?.()
    expect(exchanged).toBe(1)
    expect(Buffer.compare((await replica.read(at('/large.bin'))).bytes, bytesOf(1))).toBe(0)
    expect((await store.read(at('/large.bin'))).stat.size).toBe(size)
  })
})
