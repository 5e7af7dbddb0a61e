import type { Stat } from '@ws/core'
import { attributesOf, type Attributes } from './attributes.ts'
import { directoryVersion, versionOf } from '../keys/etag.ts'
import { readMetadata, type FileMetadata } from './metadata.ts'

export interface ObjectHeaders {
  readonly ContentLength?: number | undefined
  /** The range of an answer: `bytes 0-9/100`. */
  readonly ContentRange?: string | undefined
  readonly ETag?: string | undefined
  readonly LastModified?: Date | undefined
  readonly Metadata?: Record<string, string> | undefined
  readonly ContentType?: string | undefined
  readonly CacheControl?: string | undefined
  readonly ContentDisposition?: string | undefined
  readonly ContentLanguage?: string | undefined
  readonly ContentEncoding?: string | undefined
  readonly ChecksumCRC32?: string | undefined
  readonly ChecksumCRC64NVME?: string | undefined
  /** `FULL_OBJECT`, or `COMPOSITE` for a checksum of checksums of parts. */
  readonly ChecksumType?: string | undefined
  readonly ServerSideEncryption?: string | undefined
  readonly SSECustomerAlgorithm?: string | undefined
}

export interface ObjectState {
  readonly stat: Stat
  readonly metadata: FileMetadata
  readonly attributes: Attributes
  readonly headers: ObjectHeaders
}

export const directoryStat: Stat = Object.freeze({ type: 'directory', size: 0, version: directoryVersion })

/** The state of a file. Its time is the metadata's time, otherwise the server's. */
export function stateOf(headers: ObjectHeaders): ObjectState {
  const metadata = readMetadata(headers.Metadata)
  const modifiedAt = metadata.modifiedAt ?? headers.LastModified?.getTime()
  const { mode } = metadata
  const stat: Stat = {
    type: 'file',
    size: sizeOf(headers),
    ...(modifiedAt === undefined ? {} : { modifiedAt }),
    ...(mode === undefined ? {} : { mode }),
    version: versionOf(headers.ETag),
  }
  return { stat, metadata, attributes: attributesOf(headers), headers }
}

/** The stat of a link, without a size, from its object's headers. */
export function linkStat({ stat }: ObjectState): Stat {
  return { ...stat, type: 'symlink', size: 0 }
}

/** Compares two states by the ids of their last writes; without ids, by content and time. */
export function isSameObject(one: ObjectState, other: ObjectState): boolean {
  if (one.stat.version !== other.stat.version) return false
  const [id, known] = [one.metadata.writes[0], other.metadata.writes[0]]
  if (id !== undefined || known !== undefined) return id === known
  return one.headers.LastModified?.getTime() === other.headers.LastModified?.getTime()
}

/** The size of the whole object, even in an answer with a range. */
function sizeOf({ ContentRange, ContentLength }: ObjectHeaders): number {
  const whole = ContentRange === undefined ? undefined : /\/(?<size>\d+)$/u.exec(ContentRange)?.groups?.['size']
  return whole === undefined ? (ContentLength ?? 0) : Number(whole)
}
