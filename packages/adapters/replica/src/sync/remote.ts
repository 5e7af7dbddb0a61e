import { isWorkspaceError, paths } from '@ws/core'
import { type Entry, LinkSignal, type MountPath, type SignalOption } from '@ws/core/adapter'
import type { InnerAdapter } from '@ws/core/inner'
import { contentOf } from '@ws/tree/disk'

import { failure } from '../errors.ts'
import { type Base, largeBytes } from '../worker/protocol.ts'
import { isBelowName } from './paths.ts'
import { fetchLarge } from './pieces.ts'
import type { Site } from './site.ts'

/** An entry of the store. */
export interface Remote {
  readonly type: 'file' | 'directory' | 'symlink'
  readonly version: string
  /** Permission bits, if a listing includes them at no cost. */
  readonly mode: number | undefined
  /** Bytes of a file. */
  readonly size: number
  /** The time of the write by the store's clock, if a listing includes it at no cost. */
  readonly writtenAt?: number | undefined
}

export interface Limits {
  readonly maxFiles: number
  readonly maxBytes: number
  readonly maxFileBytes: number
  readonly maxNameBytes: number
  readonly maxPathBytes: number
  /** Names of trees that both sides ignore. */
  readonly rebuild: ReadonlySet<string>
}

interface ListOptions extends SignalOption {
  /** The agreed entries of this machine. If there are any, a listing above a limit leaves entries out instead of failing. */
  readonly base: ReadonlyMap<string, Base>
  readonly leave: (path: string, reason: string) => unknown
  /** Called with an object that no path names, or whose path another entry has. Default: the object is ignored. */
  readonly onUnnamed?: ((entry: Entry) => void) | undefined
}

/** Lists the whole store. @throws WorkspaceError `EDQUOT` above a limit, if this machine has no entry of the store yet */
export async function listStore(
  store: InnerAdapter,
  limits: Limits,
  { signal, base, leave, onUnnamed }: ListOptions,
): Promise<Map<string, Remote>> {
  const found = new Map<string, Remote>()
  let files = base.size
  let bytes = [...base.values()].reduce((sum, { size }) => sum + size, 0)
  const listing = store.list(paths.mountRoot, { recursive: true, written: true, signal })
  for (;;) {
    let entry = listing.nextNow?.()
    if (entry === undefined) {
      const next = await listing.next()
      if (next.done === true) return found
      entry = next.value
    }
    const { type, path, version = '', mode, size = 0, writtenAt } = entry
    if (isBelowName(path, limits.rebuild)) continue
    if (entry.unreachable === true) {
      onUnnamed?.(entry)
      continue
    }
    const reason = reasonAgainst(entry, limits)
    if (reason !== undefined) leave(path, reason)
    if (reason !== undefined || type === 'other') continue
    const [newFiles, newBytes] = base.has(path) ? [0, 0] : [1, size]
    const [name, what] = limitAt(files + newFiles, bytes + newBytes, size, limits)
    if (name === undefined || (newFiles === 0 && name !== 'maxFileBytes')) {
      files += newFiles
      bytes += newBytes
      found.set(path, { type, version, mode, size, writtenAt })
      continue
    }
    leave(path, `the store holds ${what}`)
    if (base.size > 0) continue
    await listing.return?.()
    throw failure('EDQUOT', {
      operation: 'refresh',
      path: name === 'maxFileBytes' ? path : undefined,
      reason: `the store holds ${what}, and nothing was copied`,
      remedy: `raise \`${name}\`, or use a smaller part of the store`,
    })
  }
}

/** The limit that an entry would exceed, and a description of the excess. */
function limitAt(files: number, bytes: number, size: number, limits: Limits): readonly [name?: string, what?: string] {
  const { maxFiles, maxBytes, maxFileBytes } = limits
  if (size > maxFileBytes) return ['maxFileBytes', `a file with more than ${maxFileBytes} bytes`]
  if (files > maxFiles) return ['maxFiles', `more than ${maxFiles} entries`]
  return bytes > maxBytes ? ['maxBytes', `more than ${maxBytes} bytes`] : []
}

function reasonAgainst({ path, name }: Entry, limits: Limits): string | undefined {
  if (Buffer.byteLength(name) > limits.maxNameBytes || Buffer.byteLength(path) > limits.maxPathBytes)
    return 'its name in the store is too long for the disk'
  return path.includes('/.ws-tmp-') ? 'its name in the store is kept for temporary files' : undefined
}

/** The paths whose store entry differs from the agreed state, with that entry; `undefined` if it is gone. */
export function differences(
  listed: ReadonlyMap<string, Remote>,
  base: ReadonlyMap<string, Base>,
  { rebuild }: Pick<Limits, 'rebuild'>,
): Map<string, Remote | undefined> {
  const different = new Map<string, Remote | undefined>()
  for (const [path, remote] of listed) {
    const known = base.get(path)
    if (known === undefined || known.type !== remote.type) different.set(path, remote)
    else if (remote.type === 'directory') {
      if (remote.mode !== undefined && remote.mode !== (known.mode & 0o777)) different.set(path, remote)
    } else if (known.version !== remote.version) different.set(path, remote)
  }
  for (const path of base.keys()) if (!listed.has(path) && !isBelowName(path, rebuild)) different.set(path, undefined)
  return different
}

/** True only if the store itself reports a missing entry. A listing may have skipped the entry. */
export async function isGone(store: InnerAdapter, path: MountPath, options: SignalOption): Promise<boolean> {
  return (await statStore(store, path, options)) === undefined
}

/** One entry of the store, without its bytes; `undefined` if no entry exists. */
export async function statStore(
  store: InnerAdapter,
  path: MountPath,
  { signal }: SignalOption,
): Promise<Remote | undefined> {
  try {
    const { type, version, mode, size } = await store.stat(path, { signal })
    return { type: type === 'other' ? 'file' : type, version, mode, size }
  } catch (error) {
    // a path below a file or a link of the store names no entry
    if (error instanceof LinkSignal || (isWorkspaceError(error) && absent.has(error.code))) return undefined
    throw error
  }
}

const absent: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])

/** One state of a file or link of the store. */
export interface Fetched {
  readonly version: string
  readonly mode: number | undefined
  readonly mtime: number | undefined
  readonly content?: string | undefined
  readonly target?: string | undefined
  readonly bytes?: Uint8Array | undefined
  /** The new file on the disk that contains the bytes, if they are many. The caller closes the file. */
  readonly file?: number | undefined
}

export interface FetchOptions extends SignalOption {
  readonly onlyHash?: boolean | undefined
  /** The size in the listing. Default: not known. */
  readonly size?: number | undefined
  readonly version?: string | undefined
}

/** Reads an entry of the store. Resolves to `undefined` if the entry has changed. */
export async function fetchEntry(
  site: Site,
  path: MountPath,
  type: 'file' | 'symlink',
  { signal, onlyHash = false, size = 0, version: known }: FetchOptions,
): Promise<Fetched | undefined> {
  const { store, packs } = site
  const packed = packs.take(path, known)
  if (packed !== undefined) return packed
  const large = (): Promise<Fetched | undefined> => fetchLarge(site, path, { signal, kept: !onlyHash })
  try {
    if (type === 'file') {
      if (size > largeBytes) return await large()
      const { bytes, stat } = await store.read(path, { signal, maxBytes: largeBytes })
      const { version, mode, modifiedAt: mtime } = stat
      packs.note(path, bytes.length, { version, mode, mtime })
      return { version, mode, mtime, bytes, content: contentOf(bytes) }
    }
    const { type: found, version, mode, modifiedAt: mtime } = await store.stat(path, { signal })
    const target = await store.readSymlink?.(path, { signal })
    return found === 'symlink' && target !== undefined ? { version, mode, mtime, target } : undefined
  } catch (error) {
    if (isWorkspaceError(error, 'EFBIG') && size <= largeBytes)
      return fetchEntry(site, path, type, { signal, onlyHash, size: Infinity })
    if (isChanged(error)) return undefined
    throw error
  }
}

const changed: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ECONFLICT', 'ENOTEMPTY'])

/** True if the error shows that the store has changed, and must be read again. */
export function isChanged(error: unknown): boolean {
  if (isWorkspaceError(error))
    return changed.has(error.code) || (error.code === 'EINVAL' && error.operation === 'readSymlink')
  return error instanceof LinkSignal
}
