import type { FileType, Stat, Version } from '@ws/core'

import type { Status } from '../host/calls.ts'

const fields = new BigUint64Array(5)
const bytes = Buffer.from(fields.buffer)

type VersionedStatus = Pick<Status, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>

/** Device, inode, size and both times in nanoseconds: whatever changes a file changes one of them. */
export function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: VersionedStatus): Version {
  fields[0] = dev
  fields[1] = ino
  fields[2] = size
  fields[3] = mtimeNs
  fields[4] = ctimeNs
  return bytes.toString('base64url')
}

export function typeOf(status: Status): FileType {
  if (status.isFile()) return 'file'
  if (status.isDirectory()) return 'directory'
  return status.isSymbolicLink() ? 'symlink' : 'other'
}

export function statOf(status: Status): Stat {
  const type = typeOf(status)
  return {
    type,
    size: type === 'file' ? Number(status.size) : 0,
    modifiedAt: Number(status.mtimeNs / 1_000n) / 1_000,
    mode: permissionsOf(status),
    version: versionOf(status),
  }
}

export function permissionsOf({ mode }: Status): number {
  return Number(mode) & 0o777
}

export function isSameEntry(one: Status, other: Status): boolean {
  return one.ino === other.ino && one.dev === other.dev
}
