import { createMemoryAdapter } from '@ws/adapter-memory'
import { createReplicaAdapter } from '@ws/adapter-replica'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, observe, prefix, type WatchEvent } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { component, itWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const at = (path: string) => path as Parameters<StorageAdapter['stat']>[0]

async function open(adapter: StorageAdapter) {
  const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], scratch: false })
  onTestFinished(() => workspace.close())
  return workspace
}

/** The next events, sorted: a listing has no order. */
async function next(watch: AsyncIterator<WatchEvent>, count: number): Promise<string[]> {
  const come: string[] = []
  while (come.length < count) {
    const { value } = (await watch.next()) as IteratorYieldResult<WatchEvent>
    come.push(`${value.kind} ${value.path}`)
  }
  return come.toSorted()
}

/** Changes by this workspace and by another writer, on a store whose listing is compared. */
async function tells(adapter: StorageAdapter, other: StorageAdapter): Promise<void> {
  const calls: string[] = []
  await other.write(at('/old/a'), bytes('1'), { parents: true })
  const workspace = await open(observe(adapter, ({ operation, phase }) => phase === 'before' && calls.push(operation)))
  const watch = await workspace.watch('/', { interval: 50 })
  await workspace.write('/new/b', '1')
  expect(await next(watch, 2)).toEqual(['created /new', 'created /new/b'])
  await other.write(at('/old/a'), bytes('22'))
  await other.delete(at('/new/b'))
  expect((await next(watch, 2)).slice(0, 1)).toEqual(['changed /old/a'])
  await workspace.write('/late', '1')
  calls.length = 0
  await watch.return?.()
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(calls.length, 'without a watch, nothing looks').toBeLessThan(3)
}

describe('[EF4] a watch of a store', () => {
  for (const name of s3ServerNames) {
    const inBucket = async () => {
      const { close, bucket, endpoint, region, credentials } = await sharedS3Server(name)
      const place = { bucket, endpoint, region, credentials, prefix: 'watched' }
      const [adapter, other] = [await createS3Adapter(place), await createS3Adapter(place)]
      expect(adapter.capabilities.watch).toBe(false)
      await tells(adapter, other)
      for (const one of [adapter, other]) await one.close()
      await close()
    }
    itWith(s3Needs(name), `in a bucket of ${name} compares its listings`, inBucket, {
      tags: name === 'r2' ? [] : ['all'],
    })
  }

  it('without hints compares its listings', async () => {
    const memory = createMemoryAdapter()
    const { watch: _, ...plain } = observe(memory, () => undefined)
    await tells({ ...plain, capabilities: { ...plain.capabilities, watch: false } }, memory)
  })

  it('through a layer of a part of it has the hints of the store, in paths of the part', async () => {
    const memory = createMemoryAdapter()
    await memory.createDirectory(at('/part'))
    const workspace = await open(observe(prefix(memory, '/part'), () => undefined))
    const watch = await workspace.watch('/', { interval: 2 ** 31 - 1 })
    await memory.write(at('/outside'), bytes('1'))
    await memory.write(at('/part/dir/a'), bytes('1'), { parents: true })
    expect(await next(watch, 2)).toEqual(['created /dir', 'created /dir/a'])
    await memory.delete(at('/part'), { recursive: true })
    expect((await next(watch, 1))[0]).toMatch(/^(?:overflow|deleted) /u)
  })

  itWith(component('perl'), 'in a replica tells calls at once, and changes of others when they come', async () => {
    const store = createMemoryAdapter()
    const adapter = await createReplicaAdapter({ store: async () => store })
    const workspace = await open(adapter)
    const watch = await workspace.watch('/', { interval: 50 })
    await workspace.write('/a', '1')
    expect(await next(watch, 1)).toEqual(['created /a'])
    await store.write(at('/by-another'), bytes('1'))
    await adapter.refresh?.()
    expect(await next(watch, 1)).toEqual(['created /by-another'])
    await workspace.close()
    await adapter.close()
  })
})
