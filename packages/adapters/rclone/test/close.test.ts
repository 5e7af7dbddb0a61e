/** @module-tag all */
import { setTimeout as delay } from 'node:timers/promises'

import { describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished, vi } from 'vitest'

import { openRcloneBucket } from '../src/index.ts'
import {
  at,
  failureOf,
  mountNeeds,
  mountsBelow,
  open,
  openSite,
  optionsFor,
  processesNaming,
  rcloneOf,
  readText,
  scratch,
  storeThatHangs,
  write,
} from './support.ts'

/** Milliseconds that a test gives `close` for what it kills. */
const endMs = 25_000

async function expectNothingLeft(directory: string): Promise<void> {
  expect(mountsBelow(directory)).toEqual([])
  await vi.waitFor(async () => expect(await processesNaming(directory)).toEqual([]), { timeout: 2_000 })
}

/** Fails where `close` takes longer than its limits. */
async function inTime<Result>(closing: Promise<Result>): Promise<Result> {
  const late = delay(endMs, undefined, { ref: false }).then(() => Promise.reject(new Error('close did not end')))
  return await Promise.race([closing, late])
}

describeWith(mountNeeds, 'closing a mount ends in time', () => {
  it('though its keeper does nothing any more', async () => {
    const { adapter, store, directory } = await openSite()
    await write(adapter, '/a', 'x')
    const rclone = await rcloneOf(directory)
    const keepers = (await processesNaming(directory)).filter((pid) => pid !== rclone)
    expect(keepers.length).toBeGreaterThan(0)
    for (const pid of keepers) process.kill(pid, 'SIGSTOP')
    onTestFinished(() => keepers.forEach(resume))
    await inTime(adapter.close())
    await expectNothingLeft(directory)
    expect(await store.get('threads/t1/a')).toBe('x')
  }, 60_000)

  it('though it is being brought back from a store that hangs; it says that something is not in the store', async () => {
    const { store, hang, answer } = await storeThatHangs()
    const events: string[] = []
    const onEvent = ({ kind }: { readonly kind: string }): void => void events.push(kind)
    const { adapter, directory, options } = await openSite({ timeouts: { writeBack: 600_000 }, onEvent }, store)
    await write(adapter, '/a', 'kept')
    hang()
    process.kill(await rcloneOf(directory), 'SIGKILL')
    await vi.waitFor(() => expect(events).toContain('lost'), { timeout: 10_000 })
    expect((await adapter.status()).state).toBe('restoring')
    const closed = await inTime(failureOf(adapter.close()))
    expect(closed).toMatchObject({
      code: 'EIO',
      operation: 'close',
      reason: expect.stringContaining('could not upload everything'),
    })
    await expectNothingLeft(directory)
    answer()
    const next = await open(options)
    expect(await readText(next, '/a')).toBe('kept')
  }, 60_000)

  it('that is gone, and says that something is not in the store', async () => {
    const { adapter, directory, options, store } = await openSite({
      timeouts: { writeBack: 600_000 },
      recovery: 'manual',
    })
    await write(adapter, '/a', 'kept')
    process.kill(await rcloneOf(directory), 'SIGKILL')
    await vi.waitFor(async () => expect((await adapter.status()).state).toBe('lost'), { timeout: 10_000 })
    expect(await failureOf(adapter.close())).toMatchObject({ code: 'EIO', operation: 'close' })
    const next = await open(options)
    await next.close()
    expect(await store.get('threads/t1/a')).toBe('kept')
  })

  it('that several adapters share while the store hangs', async () => {
    const { store, hang, answer } = await storeThatHangs()
    const directory = await scratch()
    const { prefix: _, ...options } = optionsFor(store, directory)
    const limits = { timeouts: { operation: 1_000, flush: 1_000, directoryCache: 1, attributeCache: 1 } }
    const bucket = await openRcloneBucket({ ...options, ...limits })
    onTestFinished(() => bucket.close().catch(() => undefined))
    const adapter = await bucket.adapter('one')
    await write(adapter, '/new', 'kept')
    hang()
    const waiting = adapter.stat(at('/cold/none')).catch(() => undefined)
    const closed = await inTime(failureOf(bucket.close()))
    expect(closed).toMatchObject({ code: 'ETIMEDOUT', operation: 'close' })
    await waiting
    await expectNothingLeft(directory)
    answer()
  }, 60_000)
})

function resume(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // it has ended
  }
}
