import type { FileType, Stat, Version } from '@ws/core'
import { fileTimes } from '@ws/core/adapter'
import type { InnerEntry } from '@ws/core/inner'

import type { Status } from '../host/calls.ts'

const fields = new BigUint64Array(5)
const bytes = Buffer.from(fields.buffer)

type VersionedStatus = Pick<Status, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>

/** A version of device, inode, size and both times in nanoseconds. Every change of a file changes one of them. */
export function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: VersionedStatus): Version {
  fields[0] = dev
  fields[1] = ino
  fields[2] = size
  fields[3] = mtimeNs
  fields[4] = ctimeNs
  return bytes.toString('base64url')
}

export function typeOf(status: Pick<Status, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): FileType {
  if (status.isFile()) return 'file'
  if (status.isDirectory()) return 'directory'
  return status.isSymbolicLink() ? 'symlink' : 'other'
}

/** `version`: for callers that need another version than {@link versionOf}. */
export function statOf(status: Status, version = versionOf(status)): Stat {
  const type = typeOf(status)
  const stat = {
    type,
    size: type === 'file' ? Number(status.size) : 0,
    modifiedAt: fileTimes.dateable(Number(status.mtimeNs / 1_000n) / 1_000), // @defence `fileTimes.dateable` a time that no Date holds: shows a time that no Date holds
    mode: permissionsOf(status),
    version,
  }
  const isLinked = type === 'file' && status.nlink > 1n
  return isLinked ? Object.assign(stat, { linked: true } satisfies Pick<InnerEntry, 'linked'>) : stat
}

export function permissionsOf({ mode }: Status): number {
  return Number(mode) & 0o777
}

export function isSameEntry(one: Status, other: Status): boolean {
  return one.ino === other.ino && one.dev === other.dev
}

/** The facts in a version. `ctimeNs` equals `mtimeNs` if {@link versionFrom} did not receive it. */
export interface VersionFacts {
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** Decodes a version that this adapter made, for adapters built on this one. Returns `undefined` for any other version. */
export function factsOfVersion(version: Version): VersionFacts | undefined {
  const found = fieldsOf(version)
  if (found === undefined) return undefined
  const [, , size = 0n, mtimeNs = 0n, ctimeNs = 0n] = found
  return { size, mtimeNs, ctimeNs }
}

/** A version of size and times, for file systems without stable inodes. */
export function versionFrom({ size, mtimeNs }: Omit<VersionFacts, 'ctimeNs'>, ctimeNs = mtimeNs): Version {
  return versionOf({ dev: 0n, ino: 0n, size, mtimeNs, ctimeNs })
}

function fieldsOf(version: Version): BigUint64Array | undefined {
  const buffer = Buffer.from(version, 'base64url')
  if (buffer.length !== bytes.length || buffer.toString('base64url') !== version) return undefined
  return new BigUint64Array(Uint8Array.from(buffer).buffer)
}
