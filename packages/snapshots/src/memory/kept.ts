import { isWorkspaceError } from '@ws/core'
import type { Version } from '@ws/core'
import type { EntryState, MountPath, StorageAdapter } from '@ws/core/adapter'

/** The state of one path, with its bytes. */
export interface Kept {
  readonly type: EntryState['type']
  readonly size: number
  readonly mode?: number | undefined
  readonly modifiedAt: number
  readonly version: Version
  /** The bytes of a file; absent where there are too many. */
  readonly bytes?: Uint8Array | undefined
  readonly target?: string | undefined
}

/** `undefined`: nothing is there. */
export async function keep(adapter: StorageAdapter, path: MountPath, maxFileBytes: number): Promise<Kept | undefined> {
  try {
    const { type, size, mode, modifiedAt = 0, version } = await adapter.stat(path)
    if (type === 'other') return undefined
    const facts = { type, size, mode, modifiedAt, version }
    if (type === 'symlink') return { ...facts, target: await adapter.readSymlink?.(path) }
    if (type === 'directory' || size > maxFileBytes) return facts
    const { bytes, stat } = await adapter.read(path, { maxBytes: maxFileBytes })
    return { ...facts, size: bytes.length, version: stat.version, bytes }
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR') || !isWorkspaceError(error))
      return undefined
    throw error
  }
}

export function isSameKept(one: Kept, other: Kept): boolean {
  return (
    one.type === other.type &&
    one.target === other.target &&
    one.mode === other.mode &&
    one.modifiedAt === other.modifiedAt &&
    isSameBytes(one, other)
  )
}

export function isSameBytes(one: Kept, other: Kept): boolean {
  if (one.type !== 'file' || other.type !== 'file') return one.type === other.type
  if (one.version === other.version) return true
  if (one.bytes === undefined || other.bytes === undefined)
    return one.size === other.size && one.modifiedAt === other.modifiedAt
  return Buffer.compare(one.bytes, other.bytes) === 0
}
