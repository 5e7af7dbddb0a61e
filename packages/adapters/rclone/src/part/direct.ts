import { type BigIntStats, constants } from 'node:fs'
import { dirname, join } from 'node:path'

import {
  creating,
  newTempName,
  slowMountCalls as calls,
  statOf,
  tempPrefix,
  versionFrom,
} from '@ws/adapter-local/internal'
import type { ReadResult, Stat, WriteResult } from '@ws/core'
import type { MountPath, StorageAdapter, WriteData, AdapterOptions } from '@ws/core/adapter'

type ReadOptions = AdapterOptions.Read

/** Limit of bytes of a directly read file. Larger files are read in the usual way. */
const largestBytes = 1_048_576
const reading = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** The most frequent operations. */
export interface DirectFiles {
  stat(path: MountPath, options?: AdapterOptions.Stat): Promise<Stat>
  /** `atEnd`: called when all bytes are read and the file is not closed yet, if that moment is known. */
  read(path: MountPath, options?: ReadOptions, atEnd?: () => void): Promise<ReadResult>
  write(path: MountPath, data: WriteData, options?: AdapterOptions.Write): Promise<WriteResult>
}

/**
 * The most frequent operations, with as few calls as possible. A mount without links leads only to itself, even during renames. So
 * paths need no verification by descriptors, and new entries have the mount's owner. Unusual cases (an error, another type,
 * a condition) use the usual adapter, which handles them.
 *
 * A mount can end at any moment and leave a plain directory: an entry on another device is not part of the mount.
 *
 * @param root host path of the mount, or of a part of it
 * @param device of the mount
 */
export function directFiles(root: string, device: bigint, usual: StorageAdapter): DirectFiles {
  // the usual adapter repeats each failed operation, and reports its error
  return {
    async stat(path: MountPath, options: AdapterOptions.Stat = {}): Promise<Stat> {
      if (isOrdinary(path, options)) {
        const found = await statAt(join(root, path), device).catch(() => undefined)
        if (found !== undefined) return found
      }
      return await usual.stat(path, options)
    },
    async read(path: MountPath, options: ReadOptions = {}, atEnd: () => void = () => undefined): Promise<ReadResult> {
      const { range, ifVersion, maxBytes = largestBytes } = options
      const whole = range === undefined && ifVersion === undefined && maxBytes >= largestBytes
      if (whole && isOrdinary(path, options)) {
        const found = await readWhole(join(root, path), device, atEnd).catch(() => undefined) // as in `stat`
        if (found !== undefined) return found
      }
      return await usual.read(path, options)
    },
    async write(path: MountPath, data: WriteData, options: AdapterOptions.Write = {}): Promise<WriteResult> {
      const { ifVersion, mode } = options
      if (isOrdinary(path, options) && data instanceof Uint8Array && ifVersion === undefined && mode === undefined) {
        const written = await writeWhole(join(root, path), device, data).catch(() => undefined) // as in `stat`
        if (written !== undefined) return written
      }
      return await usual.write(path, data, options)
    },
  }
}

/** True for the direct way. The usual way handles a signal, which can abort a wait, and the root, which may be missing or replaced. */
function isOrdinary(path: MountPath, { signal }: AdapterOptions.Stat): boolean {
  return signal === undefined && path !== '/' && !path.includes(`/${tempPrefix}`)
}

async function statAt(path: string, device: bigint): Promise<Stat | undefined> {
  return statIn(device, await calls.lstat(path))
}

async function readWhole(path: string, device: bigint, atEnd: () => void): Promise<ReadResult | undefined> {
  const fd = await calls.open(path, reading)
  try {
    const stat = statIn(device, await calls.fstat(fd))
    if (stat?.type !== 'file' || stat.size > largestBytes) return undefined
    const bytes = new Uint8Array(stat.size)
    for (let filled = 0; filled < bytes.length; ) {
      const count = await calls.read(fd, bytes, filled, bytes.length - filled, filled)
      if (count === 0) return { bytes: bytes.slice(0, filled), stat }
      filled += count
    }
    atEnd()
    return { bytes, stat }
  } finally {
    await calls.close(fd)
  }
}

/** Writes a new file and renames it in one step. Fails, with nothing changed, if the name is a directory. */
async function writeWhole(path: string, device: bigint, data: Uint8Array): Promise<WriteResult> {
  const temp = join(dirname(path), newTempName())
  const fd = await calls.open(temp, creating, 0o666)
  try {
    const status = await writeAll(fd, data)
    if (status.dev !== device) throw new Error('the mount is gone')
    await calls.rename(temp, path)
    return { version: versionFrom(status), size: data.length }
  } catch (error) {
    await remove(temp).catch(() => undefined) // the next start sweeps the file
    throw error
  }
}

async function remove(path: string): Promise<void> {
  await calls.unlink(path)
}

/** Writes, reads the status, and closes: FUSE reports failed writes at the close. */
async function writeAll(fd: number, data: Uint8Array): Promise<BigIntStats> {
  try {
    for (let written = 0; written < data.length; ) {
      written += await calls.write(fd, data, written, data.length - written)
    }
    return await calls.fstat(fd)
  } finally {
    await calls.close(fd)
  }
}

/** The stat of a file or directory of the mount. `undefined` for other entries, which need the usual way. */
function statIn(device: bigint, status: BigIntStats): Stat | undefined {
  if (status.dev !== device || !(status.isFile() || status.isDirectory())) return undefined
  return statOf(status, versionFrom(status))
}
