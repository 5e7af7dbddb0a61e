import { expect, it } from 'vitest'

import { WorkerPool } from '../src/run/pool.ts'

it('[PC16] a waiter that is aborted as its turn comes hands the turn on', async () => {
  const pool = new WorkerPool({ size: 1, maxMemory: 64 * 1024 * 1024 })
  const never = new AbortController().signal
  const worker = await pool.acquire(never)
  const controller = new AbortController()
  const aborted = pool.acquire(controller.signal).catch((error: unknown) => error)
  const waiting = pool.acquire(never)
  // In one tick: the first waiter is woken, and aborted before it runs.
  pool.release(worker)
  controller.abort(new Error('enough'))
  expect(await aborted).toEqual(new Error('enough'))
  await pool.end(await waiting)
})
