import { setTimeout as delay } from 'node:timers/promises'

import { failure } from '../errors.ts'
import type { RunningMount } from './start.ts'

/** Milliseconds for rclone to write one message. */
const markMs = 10_000

/**
 * Removes the store's objects for files that were moved or deleted. Call this when no upload remains.
 * Returns names at which the store may differ from the files that programs see.
 */
export async function settleStaleNames(
  running: RunningMount,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const { process, renamed, staleNames } = running
  const limit = AbortSignal.timeout(markMs)
  try {
    const either = signal === undefined ? limit : AbortSignal.any([signal, limit])
    await process.log.catchUp(running.control, either)
  } catch (error) {
    signal?.throwIfAborted()
    if (!limit.aborted) throw error
    const remedy = 'flush again; files that are not uploaded yet stay in the cache'
    throw failure('ETIMEDOUT', 'the mount does not report its uploads', { operation: 'flush', remedy, native: error })
  }
  const changing = await renamed.settled(signal)
  if (!staleNames.isEmpty) await staleNames.settle({ ...running, signal }, (ms) => delay(ms, undefined, { signal }))
  if (changing.length === 0) await renamed.forget(signal)
  return [...changing, ...(await renamed.lost(signal))]
}
