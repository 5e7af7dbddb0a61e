import { createHash } from 'node:crypto'

import { isWorkspaceError, paths, WorkspaceError } from '@ws/core'
import { LinkSignal, type MountPath, type StorageAdapter } from '@ws/core/adapter'

import type { LandedEntry } from '../state/records.ts'

/** Hashes each version of a file once. */
export class Hasher {
  readonly #known = new WeakMap<StorageAdapter, Map<string, string>>()

  async hash(
    adapter: StorageAdapter,
    path: MountPath,
    signal?: AbortSignal,
  ): Promise<{ hash: string; size: number; mode?: number }> {
    const { stat, stream } = await adapter.readStream(path, { signal })
    const key = `${path}\n${stat.version}`
    const ofAdapter = this.#known.get(adapter) ?? new Map<string, string>()
    this.#known.set(adapter, ofAdapter)
    let hash = ofAdapter.get(key)
    if (hash === undefined) {
      const sum = createHash('sha256')
      for await (const chunk of stream) sum.update(chunk)
      hash = sum.digest('hex')
      if (ofAdapter.size < maxRemembered) ofAdapter.set(key, hash)
    } else {
      await stream.return?.()
    }
    return { hash, size: stat.size, ...(stat.mode === undefined ? {} : { mode: stat.mode }) }
  }
}

const maxRemembered = 100_000

export function mountPath(path: string): MountPath {
  return path === '' ? paths.mountRoot : paths.parseMount(`/${path}`, 'land')
}

/** Lists parents first, without following links; `[]` for a missing path. @throws WorkspaceError `EINVAL` for special files, `ELOOP` */
export async function readTree(
  adapter: StorageAdapter,
  path: string,
  hasher: Hasher,
  signal?: AbortSignal,
): Promise<LandedEntry[]> {
  try {
    const { type } = await adapter.stat(mountPath(path), { signal })
    const entries = [{ path: mountPath(path), type }]
    if (type === 'directory') {
      for await (const entry of adapter.list(mountPath(path), { recursive: true, signal })) {
        if (entry.unreachable === true) throw unusable(entry.name)
        entries.push({ path: entry.path, type: entry.type })
      }
    }
    const found: LandedEntry[] = []
    for (const entry of entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
      found.push(await landedEntry(adapter, entry, hasher, signal))
    }
    return found
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return []
    if (error instanceof LinkSignal) throw linkInTheWay(path)
    throw error
  }
}

async function landedEntry(
  adapter: StorageAdapter,
  { path: at, type }: { readonly path: MountPath; readonly type: string },
  hasher: Hasher,
  signal: AbortSignal | undefined,
): Promise<LandedEntry> {
  const path = at.slice(1)
  if (type === 'directory') return { type, path }
  if (type === 'file') return { type, path, ...(await hasher.hash(adapter, at, signal)) }
  if (type === 'symlink' && adapter.readSymlink !== undefined) {
    return { type, path, target: await adapter.readSymlink(at, { signal }) }
  }
  throw unusable(path)
}

function unusable(path: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'land',
    path: `/output/${path}`,
    reason: 'is not a file, a directory or a link',
    remedy: 'let the step remove it',
  })
}

function linkInTheWay(path: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ELOOP',
    operation: 'land',
    path: `/output/${path}`,
    reason: 'leads through a symbolic link',
    remedy: 'replace the link in the output by a directory',
  })
}

export function sameEntry(one: LandedEntry, other: LandedEntry): boolean {
  if (one.type === 'file' && other.type === 'file') return one.hash === other.hash
  if (one.type === 'symlink' && other.type === 'symlink') return one.target === other.target
  return one.type === 'directory' && other.type === 'directory'
}
