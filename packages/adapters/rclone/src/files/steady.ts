import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'

import { factsOfVersion } from '@ws/adapter-local/internal'
import type { ReadResult, Stat } from '@ws/core'
import {
  type MountPath,
  type ReadStreamResult,
  type StorageAdapter,
  chunksOf,
  type AdapterOptions,
} from '@ws/core/adapter'

import { type CachedFile, lookAtCachedFile } from '../cache/cached-file.ts'
import { failure } from '../errors.ts'
import type { DirectFiles } from '../part/direct.ts'
import { settled } from './versions.ts'

/** Limit of bytes of a stream that are read at once into memory. */
const atOnceBytes = 4 * 1024 * 1024
/** Milliseconds between two attempts, and for all attempts: the kernel may report an old size for a second. */
const retryMs = 3
const longestMs = 3_000

type Now = CachedFile | 'changing' | undefined

/**
 * Reads a file in one state. While a file of a mount is replaced, readers see the size of one state and the bytes of another.
 * The cache's notes on the file before and after the read must be equal and match; otherwise the read is repeated.
 */
export async function readSteadily(
  files: Pick<DirectFiles, 'read'>,
  metadata: string,
  path: MountPath,
  options: AdapterOptions.Read,
): Promise<ReadResult> {
  const deadline = performance.now() + longestMs
  for (let attempt = 0; ; attempt += 1) {
    const before = await whatIsSaid(metadata)
    let atEnd: Now = 'changing'
    const { bytes, stat } = await files.read(path, options, () => (atEnd = lookAtCachedFile(metadata)))
    const after = await whatIsSaid(metadata, atEnd)
    if (
      isSame(before, after) &&
      isWhole(bytes, stat, options) &&
      !isOutdated(stat, after) &&
      !isGap(stat, after, attempt)
    ) {
      return { bytes, stat: await settled(metadata, stat, after) }
    }
    if (performance.now() > deadline) throw busy('read', path)
    await delay(retryMs, undefined, { signal: options.signal })
  }
}

/** Like {@link readSteadily} for a stream. A stream cannot restart, so it fails if the file is replaced. */
export async function openSteadyStream(
  files: StorageAdapter,
  metadata: string,
  path: MountPath,
  options: AdapterOptions.Read,
): Promise<ReadStreamResult> {
  const before = lookAtCachedFile(metadata)
  const { stat, stream } = await files.readStream(path, options)
  const length = Math.min(stat.size - (options.range?.offset ?? 0), options.range?.length ?? stat.size)
  if (length <= atOnceBytes) {
    await stream.return?.()
    const read = await readSteadily(files, metadata, path, options)
    return { stat: read.stat, stream: chunksOf(read.bytes) }
  }
  return { stat: await settled(metadata, stat, before), stream: steady(stream, metadata, before, path) }
}

/** Reads the cache's note, and waits while rclone writes it. rclone also notes each reader. */
async function whatIsSaid(metadata: string, first = lookAtCachedFile(metadata)): Promise<Now> {
  let now = first
  for (let turn = 0; now === 'changing' && turn < turnsForNotes; turn += 1) {
    await nextTurn()
    now = lookAtCachedFile(metadata)
  }
  return now
}

const turnsForNotes = 20

/** Whether the cache has a later state of another size. (A growing file has a later time than its note.) */
function isOutdated({ size, version }: Stat, cached: Now): boolean {
  if (cached === undefined || cached === 'changing' || cached.size === size) return false
  const seen = factsOfVersion(version)
  return seen !== undefined && seen.mtimeNs <= cached.mtimeNs
}

/** Whether a file is empty only because it is being replaced. A file that is empty in the store remains empty. */
function isGap({ size }: Stat, cached: Now, attempt: number): boolean {
  return size === 0 && cached === undefined && attempt < gapAttempts
}

const gapAttempts = 4

/** False for a file that was replaced between its stat and the read of its bytes. */
function isWhole(bytes: Uint8Array, { size }: Stat, { range }: AdapterOptions.Read): boolean {
  return range !== undefined || bytes.length === size
}

function isSame(one: Now, other: Now): boolean {
  if (one === undefined || other === undefined) return true // a file from the store is noted when its first byte is read
  if (one === 'changing' || other === 'changing') return false
  return one.mtimeNs === other.mtimeNs && one.size === other.size
}

async function* steady(
  stream: AsyncIterable<Uint8Array>,
  metadata: string,
  opened: Now,
  path: MountPath,
): AsyncGenerator<Uint8Array> {
  let before = opened
  for await (const chunk of stream) {
    const now = lookAtCachedFile(metadata)
    if (!isSame(before, now)) {
      throw failure('ECONFLICT', 'was replaced while it was read', {
        operation: 'readStream',
        path,
        remedy: 'read it again',
      })
    }
    before ??= now
    yield chunk
  }
}

function busy(operation: string, path: MountPath): Error {
  return failure('EBUSY', 'is being replaced all the time', { operation, path, remedy: 'try again' })
}
