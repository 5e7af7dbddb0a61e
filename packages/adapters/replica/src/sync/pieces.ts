import type { MountPath, SignalOption } from '@ws/core/adapter'

import type { Fetched } from './remote.ts'
import type { Site } from './site.ts'

/** The file changed between its scan and the end of its upload. The store has none of its bytes. */
class Torn extends Error {}

/**
 * Streams a large file to a write in pieces. Returns `undefined` if the file changed since its scan: the last
 * piece then fails, so that the store keeps nothing.
 */
export function sendLarge<Result>(
  { disk, isBusy, large }: Site,
  path: MountPath,
  { signal, write }: SignalOption & { readonly write: (data: AsyncIterable<Uint8Array>) => Promise<Result> },
): Promise<Result | undefined> {
  return large.run(() => send({ disk, isBusy }, path, write), signal)
}

async function send<Result>(
  { disk, isBusy }: Pick<Site, 'disk' | 'isBusy'>,
  path: MountPath,
  write: (data: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result | undefined> {
  const file = await disk.ask('openFile', path, isBusy())
  if (file === undefined) return undefined
  let isTorn = false
  async function* pieces(number: number): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      const piece = await disk.ask('nextPiece', number)
      if (piece instanceof Uint8Array) {
        yield piece
        continue
      }
      if (piece.isWhole) return
      isTorn = true
      throw new Torn()
    }
  }
  try {
    return await write(pieces(file))
  } catch (error) {
    if (isTorn) return undefined
    throw error
  } finally {
    await disk.ask('closeFile', file)
  }
}

/** Reads a large file of the store in pieces; `undefined` if it changed. @param kept also writes a new file for the caller */
export async function fetchLarge(
  { store, disk, limits, large }: Site,
  path: MountPath,
  { signal, kept }: SignalOption & { readonly kept: boolean },
): Promise<Fetched | undefined> {
  return large.run(async () => {
    const { stat, stream } = await store.readStream(path, { signal })
    const { version, mode, modifiedAt: mtime, size } = stat
    // the file has grown since it was listed: the next listing refuses it
    if (size > limits.maxFileBytes) {
      await stream.return?.()
      return undefined
    }
    const file = await disk.ask('newFile', kept)
    let isWanted = false
    try {
      let count = 0
      for await (const piece of stream) {
        await disk.ask('addPiece', file, piece)
        count += piece.length
      }
      if (count !== size) return undefined
      const content = await disk.ask('hashOf', file)
      isWanted = kept
      return { version, mode, mtime, content, file: kept ? file : undefined }
    } finally {
      if (!isWanted) await disk.ask('closeFile', file)
    }
  }, signal)
}
