import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { isWorkspaceError, type FileDoor, type Version } from '@ws/core'
import { fileTimes } from '@ws/core/adapter'
import { pack, type Pack } from 'tar-stream'

import { keyOf } from './listing.ts'

/** An entry of the workspace that goes to the machine. */
export interface Upload {
  readonly path: string
  /** The path below the root. */
  readonly name: string
  readonly type: 'file' | 'directory' | 'symlink'
  readonly mode: number | undefined
  /** The mode in the archive. */
  readonly bits: number
  readonly version: Version | undefined
  readonly modifiedAt: number | undefined
}

export interface Packed {
  readonly version: Version | undefined
  readonly mode: number | undefined
  readonly digest?: string | undefined
  /** The size and time of a file in the archive, as the machine lists a file that nothing has changed since. */
  readonly facts?: string | undefined
}

export interface PackOptions {
  readonly files: FileDoor
  readonly signal: AbortSignal | undefined
  /** Receives each packed entry by key. */
  readonly packed: Map<string, Packed>
}

/** Packs entries into an archive. Leaves out what the policy forbids to read. Yields nothing for no entry. */
export async function* packUploads(
  uploads: readonly Upload[],
  { files, signal, packed }: PackOptions,
): AsyncGenerator<Uint8Array, undefined> {
  const archive = pack()
  const filled = fill()
  async function fill(): Promise<void> {
    try {
      for (const upload of uploads) {
        signal?.throwIfAborted()
        const added = await addUnlessDenied(archive, upload, files, signal)
        if (added !== undefined) packed.set(keyOf(upload.name), added)
      }
      if (packed.size > 0) archive.finalize()
      else archive.destroy()
    } catch (error) {
      archive.destroy(error as Error)
      throw error
    }
  }
  filled.catch(() => undefined) // awaited below
  try {
    for await (const chunk of archive) yield chunk as Uint8Array
  } catch (error) {
    await filled
    if (packed.size > 0) throw error // an archive without entries is destroyed
  } finally {
    archive.destroy()
  }
  await filled
  return undefined
}

async function addUnlessDenied(
  archive: Pack,
  upload: Upload,
  files: FileDoor,
  signal: AbortSignal | undefined,
): Promise<Packed | undefined> {
  try {
    return await add(archive, upload, files, signal)
  } catch (error) {
    if (isWorkspaceError(error) && ['EACCES', 'ENOENT'].includes(error.code)) return undefined
    throw error
  }
}

async function add(
  archive: Pack,
  { path, name, type, bits, mode, version, modifiedAt }: Upload,
  files: FileDoor,
  signal: AbortSignal | undefined,
): Promise<Packed> {
  const header = { name: `./${name}`, mode: bits, mtime: fileTimes.forTar(modifiedAt ?? Date.now()) }
  if (type === 'directory') {
    await files.list(path, { signal }).next() // throws for a directory that the policy denies
    archive.entry({ ...header, type })
    return { version, mode }
  }
  if (type === 'symlink') {
    archive.entry({ ...header, type, linkname: await files.readSymlink(path, { signal }) })
    return { version, mode }
  }
  const { stat, stream } = await files.readStream(path, { signal })
  const hash = createHash('sha256')
  async function* watched(): AsyncGenerator<Uint8Array, undefined> {
    for await (const chunk of stream) {
      hash.update(chunk)
      yield chunk
    }
    return undefined
  }
  await pipeline(Readable.from(watched()), archive.entry({ ...header, type, size: stat.size }))
  const facts = `${stat.size} ${Math.floor(header.mtime.getTime() / 1000)}.0000000000`
  return { version: stat.version, mode, digest: hash.digest('hex'), facts }
}
