import type { Stat } from '@ws/core'
import { directoryVersion, versionOf } from '../keys/etag.ts'
import { readMetadata, type FileMetadata } from './metadata.ts'

/** What the headers of HEAD and GET tell of an object. */
export interface ObjectHeaders {
  readonly ContentLength?: number | undefined
  /** `bytes 0-9/100`, of a range. */
  readonly ContentRange?: string | undefined
  readonly ETag?: string | undefined
  readonly LastModified?: Date | undefined
  readonly Metadata?: Record<string, string> | undefined
  readonly ContentType?: string | undefined
  readonly ServerSideEncryption?: string | undefined
  readonly SSECustomerAlgorithm?: string | undefined
}

/** One object, as its headers tell it. */
export interface ObjectState {
  readonly stat: Stat
  readonly metadata: FileMetadata
  readonly headers: ObjectHeaders
}

export const directoryStat: Stat = Object.freeze({ type: 'directory', size: 0, version: directoryVersion })

/** The state of a file: its own time where it has one, else the server's. */
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
  return { stat, metadata, headers }
}

/** A link is what its object's headers say, without a size. */
export function linkStat({ stat }: ObjectState): Stat {
  return { ...stat, type: 'symlink', size: 0 }
}

/** The size of the whole object, also where only a range of it comes. */
function sizeOf({ ContentRange, ContentLength }: ObjectHeaders): number {
  const whole = ContentRange === undefined ? undefined : /\/(?<size>\d+)$/u.exec(ContentRange)?.groups?.['size']
  return whole === undefined ? (ContentLength ?? 0) : Number(whole)
}
