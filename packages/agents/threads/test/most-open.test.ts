import { createMemoryAdapter } from '@ws/adapter-memory'
import { createProcessLeases, createThreads, type LeaseStore, type Thread } from '@ws/threads'
import { expect, it } from 'vitest'

/** Leases that count how many are held at a time. */
function counted() {
  const inner = createProcessLeases()
  const counts = { now: 0, most: 0 }
  const acquire: LeaseStore['acquire'] = async (...given) => {
    counts.most = Math.max(counts.most, (counts.now += 1))
    const lease = await inner.acquire(...given)
    const end = lease.release.bind(lease)
    const release = () => end().then(() => void (counts.now -= 1))
    return Object.assign(lease, { release })
  }
  return { counts, leases: { ...inner, acquire } }
}

const maxOpen = 3

it('[TH3] no more than maxOpen threads are open, also where 20 are opened at once', async () => {
  const { counts, leases } = counted()
  await using store = createMemoryAdapter()
  const threads = await createThreads({ store, leases, maxOpen, provision: false })
  const openAll = async (prefix: string): Promise<Thread[]> => {
    const opening = Array.from({ length: 20 }, (_, index) =>
      threads.open({ threadId: `${prefix}${index % 10}`, userId: 'u1' }),
    )
    const ends = await Promise.allSettled(opening)
    const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
    for (const error of failures) expect(error).toMatchObject({ code: 'EBUSY', reason: '3 threads are in use' })
    return ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
  }
  // each is opened twice, which takes no room
  const first = await openAll('a')
  expect(first.map(({ threadId }) => threadId).sort()).toEqual(['a0', 'a0', 'a1', 'a1', 'a2', 'a2'])
  await Promise.all(first.map((thread) => thread.close()))
  const second = await openAll('b')
  expect(new Set(second.map(({ threadId }) => threadId)).size).toBe(maxOpen)
  await expect(threads.open({ threadId: 'c', userId: 'u1' })).rejects.toMatchObject({ code: 'EBUSY' })
  await second.at(0)?.close()
  await Promise.all(second.slice(1).map((thread) => thread.close()))
  await (await threads.open({ threadId: 'c', userId: 'u1' })).close()
  expect(counts).toEqual({ now: maxOpen, most: maxOpen })
  await threads.close()
  expect(counts.now).toBe(0)
})

it('an open that waits for room is refused once the threads are closed', async () => {
  await using store = createMemoryAdapter()
  const threads = await createThreads({ store, leases: createProcessLeases(), maxOpen: 1, provision: false })
  await (await threads.open({ threadId: 'a', userId: 'u1' })).close()
  const late = threads.open({ threadId: 'b', userId: 'u1' })
  const refused = expect(late).rejects.toMatchObject({ code: 'ECLOSED' })
  await threads.close()
  await refused
})
