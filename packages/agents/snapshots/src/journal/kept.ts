import { isWorkspaceError, type Stat, type Version } from '@ws/core'
import { type Checkpoints, LinkSignal, type MountPath, type StorageAdapter } from '@ws/core/adapter'

export interface Kept {
  readonly type: Checkpoints.EntryState['type']
  readonly size: number
  readonly mode?: number | undefined
  readonly modifiedAt?: number | undefined
  readonly version: Version
  /** Reads the bytes of a file; absent for too large files. `ECONFLICT`: the file was replaced meanwhile. */
  readonly bytes?: (() => Promise<Uint8Array>) | undefined
  readonly target?: string | undefined
}

/** Permission bits for a file that has none, in a store that could keep them. */
const ordinaryMode = 0o644
export const atOnce = 16
const attempts = 5

export async function load(adapter: StorageAdapter, path: MountPath, maxFileBytes: number): Promise<Kept | undefined> {
  try {
    const stat = await adapter.stat(path)
    const { type, size, version } = stat
    if (type === 'other') return undefined
    const facts = factsOf(adapter, stat, type)
    if (type === 'symlink') return { ...facts, target: await adapter.readSymlink?.(path) }
    if (type === 'directory' || size > maxFileBytes) return facts
    const bytes = async (): Promise<Uint8Array> =>
      (await adapter.read(path, { maxBytes: maxFileBytes, ifVersion: version })).bytes
    return { ...facts, bytes }
  } catch (error) {
    if (isNothing(error)) return undefined
    throw error
  }
}

export function isNothing(error: unknown): boolean {
  return isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR') || error instanceof LinkSignal
}

function factsOf({ capabilities }: StorageAdapter, stat: Stat, type: Kept['type']): Kept {
  const { size, version, mode = type === 'file' && capabilities.chmod ? ordinaryMode : undefined } = stat
  return { type, size, mode, modifiedAt: capabilities.utimes ? stat.modifiedAt : undefined, version }
}

export async function isSameKept(one: Kept, other: Kept): Promise<boolean> {
  return (
    one.type === other.type &&
    one.target === other.target &&
    one.mode === other.mode &&
    one.modifiedAt === other.modifiedAt &&
    (await isSameBytes(one, other))
  )
}

export async function isSameBytes(one: Kept, other: Kept): Promise<boolean> {
  if (one.type !== 'file' || other.type !== 'file') return one.type === other.type
  if (one.version === other.version) return true
  if (one.size !== other.size) return false
  if (one.bytes === undefined || other.bytes === undefined)
    return one.modifiedAt !== undefined && one.modifiedAt === other.modifiedAt
  return Buffer.compare(await one.bytes(), await other.bytes()) === 0
}

/** Retries where a file was replaced between reading its facts and its bytes. */
export async function steady<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read()
    } catch (error) {
      if (attempt === attempts || !(isWorkspaceError(error, 'ECONFLICT') || isWorkspaceError(error, 'ENOENT')))
        throw error
    }
  }
}
