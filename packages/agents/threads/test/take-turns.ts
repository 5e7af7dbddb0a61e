// Takes turns on a thread of the bucket that is given, as one machine, until the log has as many lines as are wanted. Each
// line of standard output is an event for the test.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createS3Adapter, type S3AdapterOptions } from '@ws/adapter-s3'
import { isWorkspaceError } from '@ws/core'
import { createObjectLeases, createThreads, type Lease, type LeaseStore, type Thread } from '@ws/threads'

import type { MachineEvent, Task } from './machines.ts'

const { connection, name, other, until, ttl, mount } = JSON.parse(process.argv[2] ?? '') as Task
const tell = (event: MachineEvent): void => console.log(JSON.stringify({ ...event, at: Date.now() }))

// 30 s for one attempt belong to a TTL of 30 s
const times = { attemptTimeout: ttl, deadline: 4 * ttl }
const options: S3AdapterOptions = { ...connection, forcePathStyle: true, ...times }
const again = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isWorkspaceError(error)) throw error
      tell({ type: 'failed', code: error.code })
      await delay(100)
    }
  }
}
const api = await again(() => createS3Adapter(options))
const store =
  mount === undefined
    ? api
    : await again(() =>
        createRcloneAdapter({
          ...connection,
          ...mount,
          timeouts: { writeBack: 100, operation: 5000, flush: ttl },
        }),
      )

let held: Lease | undefined
const inner = createObjectLeases({ adapter: api, directory: '.ws/threads', ttl, holder: name })
const leases: LeaseStore = {
  scope: inner.scope,
  async acquire(...given) {
    const lease = await inner.acquire(...given)
    held = lease
    tell({ type: 'acquired' })
    lease.lost.addEventListener('abort', () => tell({ type: 'lost' }))
    return lease
  },
  holder: inner.holder.bind(inner),
  close: () => inner.close(),
}
const threads = await createThreads({ store, leases, provision: false, idleTimeout: 0 })
tell({ type: 'ready' })

/** Since when its own lease is in the way. */
let lockedSince: number | undefined

async function open(): Promise<Thread | undefined> {
  try {
    const thread = await threads.open({ threadId: 't1', userId: 'u1' })
    if (lockedSince !== undefined) tell({ type: 'locked-out', ms: Date.now() - lockedSince })
    lockedSince = undefined
    return thread
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    const isOwn = error.code === 'EBUSY' && error.message.includes(`${name} since`)
    lockedSince = isOwn ? (lockedSince ?? Date.now()) : undefined
    if (error.code !== 'EBUSY') tell({ type: 'failed', code: error.code })
    await delay(20)
    return undefined
  }
}

for (let isDone = false; !isDone; ) {
  const thread = await open()
  if (thread === undefined) continue
  tell({ type: 'open' })
  const { workspace } = thread
  let token: string | undefined
  try {
    const log = (await workspace.exists('/log')) ? await workspace.readText('/log') : ''
    const lines = log.split('\n').slice(0, -1)
    isDone = lines.length >= until
    // the other machine's turn, unless it takes longer than a turn does
    const isTurn = lines.at(-1)?.endsWith(name) !== true || other === 'may be away'
    if (!isDone && isTurn) {
      token = `${randomUUID()} ${name}`
      await workspace.append('/log', `${token}\n`)
      await workspace.write('/count', `${lines.length + 1}\n`)
    }
    await thread.close()
    if (token !== undefined) tell({ type: 'edited', token })
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    tell({ type: 'failed', code: error.code })
    await thread.close().catch((failure: unknown) => {
      if (!isWorkspaceError(failure)) throw failure
      tell({ type: 'failed', code: failure.code })
    })
  }
  if (held?.isHeld() !== true) held = undefined
  // the next turn belongs to the other machine
  await delay(token === undefined ? 20 : 100)
}
await threads.close()
if (store !== api) await store.close()
await api.close()
