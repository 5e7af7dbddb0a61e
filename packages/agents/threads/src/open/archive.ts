import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'

import { isWorkspaceError, paths, WorkspaceError } from '@ws/core'
import { fileTimes, type MountPath, type SignalOption, type StorageAdapter } from '@ws/core/adapter'
import { extract, pack, type Header } from 'tar-stream'

export async function* exportTree(
  store: StorageAdapter,
  tree: MountPath,
  { signal }: SignalOption,
): AsyncGenerator<Uint8Array, undefined> {
  // check the whole tree before the first byte, since a truncated archive can look whole
  for await (const { path, unreachable } of store.list(tree, { recursive: true, signal })) {
    if (unreachable) throw unreachableError(path.slice(tree.length))
  }
  const archive = pack()
  const filled = fillArchive(store, tree, archive, signal).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error as Error),
  )
  try {
    for await (const chunk of archive) yield chunk as Uint8Array
  } finally {
    archive.destroy()
    await filled
  }
  return undefined
}

async function fillArchive(
  store: StorageAdapter,
  tree: MountPath,
  archive: ReturnType<typeof pack>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const entry of store.list(tree, { recursive: true, details: true, signal })) {
    const { path, type, mode, modifiedAt } = entry
    const name = path.slice(tree === '/' ? 1 : tree.length + 1)
    const common = {
      name,
      ...(mode !== undefined && { mode }),
      ...(modifiedAt !== undefined && { mtime: fileTimes.forTar(modifiedAt) }),
    }
    if (type === 'directory') archive.entry({ ...common, type: 'directory' })
    else if (type === 'symlink') {
      const linkname = (await store.readSymlink?.(path, { signal })) ?? ''
      archive.entry({ ...common, type: 'symlink', linkname })
    } else if (type === 'file') {
      const { stat, stream } = await store.readStream(path, { signal })
      await pipeline(Readable.from(stream), archive.entry({ ...common, type: 'file', size: stat.size }))
    }
  }
}

/** Fills a tree from a tar stream. @throws WorkspaceError `EINVAL` for names that lead out, and for devices, sockets and FIFOs */
export async function importTree(
  store: StorageAdapter,
  tree: MountPath,
  archive: AsyncIterable<Uint8Array>,
  { signal }: SignalOption,
): Promise<void> {
  const entries = extract()
  const end = new ArchiveEnd()
  const fed = pipeline(Readable.from(end.watch(archive)), entries, signal === undefined ? {} : { signal })
  fed.catch(() => undefined) // the loop over the entries reports the same error
  try {
    for await (const entry of entries) {
      end.expectAfter(entry.header)
      await takeEntry(store, tree, entry.header, entry as AsyncIterable<Uint8Array>, signal)
    }
  } catch (error) {
    signal?.throwIfAborted()
    if (isWorkspaceError(error)) throw error
    throw notWhole(error)
  }
  await fed
  if (!end.isThere) throw notWhole() // @defence an archive that is empty or cut: cut anywhere
}

function notWhole(native?: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'importThread',
    reason: 'the archive is not a tar stream, or ends too early',
    remedy: 'pass what `export` gave',
    native,
  })
}

const blockBytes = 512

/** Checks that two blocks of zeros end an archive; without these blocks it may be truncated. */
class ArchiveEnd {
  #total = 0
  #zeros = 0
  #entriesEnd = 0

  async *watch(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
    for await (const chunk of archive) {
      this.#total += chunk.length
      const last = chunk.findLastIndex((byte) => byte !== 0)
      this.#zeros = last === -1 ? this.#zeros + chunk.length : chunk.length - 1 - last
      yield chunk
    }
    return undefined
  }

  expectAfter(header: Header): void {
    const { byteOffset = 0, size } = header as Header & { readonly byteOffset?: number }
    this.#entriesEnd = byteOffset + Math.ceil(size / blockBytes) * blockBytes
  }

  get isThere(): boolean {
    const after = this.#total - this.#entriesEnd
    return after >= 2 * blockBytes && this.#zeros >= after
  }
}

function unreachableError(name: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'exportThread',
    path: name,
    reason: 'cannot be exported: a path cannot hold its name',
    remedy: 'rename it in the store, or copy the thread there',
  })
}

async function takeEntry(
  store: StorageAdapter,
  tree: MountPath,
  { name, type, linkname, mode }: Header,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const plain = name.replace(/^\.\//u, '').replace(/\/$/u, '')
  if (plain === '' || plain === '.') return
  if (plain.startsWith('/') || plain.split('/').some((part) => part === '..' || part === '.' || part === '')) {
    throw wrongEntry(name, 'would lie outside the thread')
  }
  const path = paths.parseMount(`${tree}/${plain}`, 'importThread')
  if (type === 'directory') await store.createDirectory(path, { recursive: true, signal })
  else if (type === 'symlink' && store.createSymlink !== undefined) {
    await store.createSymlink(path, linkname ?? '', { signal })
  } else if (type === 'file' || type === 'contiguous-file') {
    await store.write(path, body, {
      parents: true,
      ifVersion: 'absent',
      signal,
      ...(mode !== undefined && { mode: mode & 0o777 }),
    })
    return
  } else throw wrongEntry(name, `is a ${type ?? 'nameless entry'}, which this store cannot hold`)
  for await (const _chunk of body);
}

function wrongEntry(name: string, reason: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'importThread',
    path: name,
    reason,
    remedy: 'take it out of the archive',
  })
}
