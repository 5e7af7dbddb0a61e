import { once } from 'node:events'

import { expect, it } from 'vitest'

import { WorkerPool } from '../src/run/pool.ts'

const never = new AbortController().signal

it('[PC16] a waiter that is aborted as its turn comes hands the turn on', async () => {
  const pool = new WorkerPool({ size: 1, maxMemory: 64 * 1024 * 1024 })
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

it('[EX1] a thread that is given up is given to no command while it ends', async () => {
  const pool = new WorkerPool({ size: 5, maxMemory: 65 * 1024 * 1024 })
  const acquire = () => Promise.all(Array.from({ length: 5 }, () => pool.acquire(never)))
  const first = await acquire()
  await Promise.all(first.map((worker) => once(worker, 'online')))
  for (const worker of first) pool.release(worker)
  const second = await acquire()
  expect(second.filter((worker) => first.includes(worker))).toEqual(first.slice(1).toReversed())
  for (const worker of second) await pool.end(worker)
})
