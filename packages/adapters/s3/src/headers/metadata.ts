import { fileTimes } from '@ws/core/adapter'

/** An object's metadata in rclone's form, and the writes that led to it. */
export interface FileMetadata {
  /** Milliseconds since the epoch. */
  readonly modifiedAt?: number | undefined
  readonly mode?: number | undefined
  /** CRC-32 of the bytes, if it was known before sending. */
  readonly crc32?: number | undefined
  /** The ids of the write and of known earlier writes, the latest first. */
  readonly writes: readonly string[]
}

/** Limit of kept ids: up to this many writers may come between a write and its check. The ids take half a KiB; S3 allows two. */
export const keptWrites = 64

/** Makes an id that no other recent write has. */
export function makeWriteId(): string {
  return crypto.getRandomValues(Buffer.alloc(6)).toString('base64url')
}

/** Limit of bytes of names and values in S3 metadata. */
const maxMetadataBytes = 2_000

/** Metadata names of this adapter, and foreign names that describe replaced bytes. */
export const ownNames: ReadonlySet<string> = new Set([
  ...['mtime', 'mode', 'ws-writes', 'ws-crc32', 'ws-part-bytes'],
  ...['md5chksum', 's3cmd-attrs'],
])

export function writeMetadata(
  { modifiedAt, mode, crc32, writes }: FileMetadata,
  others: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const kept = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, toHeader(value)]))
  const left = maxMetadataBytes - 100 - Buffer.byteLength(Object.entries(kept).flat().join(''))
  const ids = Math.max(1, Math.min(keptWrites, Math.floor(left / 9)))
  return {
    ...kept,
    ...(modifiedAt === undefined ? {} : { mtime: `${formatSeconds(modifiedAt)}` }),
    // octal and with the file type, as `rclone --metadata` writes the mode
    ...(mode === undefined ? {} : { mode: (0o100000 | (mode & 0o777)).toString(8) }),
    ...(crc32 === undefined ? {} : { 'ws-crc32': crc32.toString(16).padStart(8, '0') }),
    ...(writes.length === 0 ? {} : { 'ws-writes': writes.slice(0, ids).join(',') }),
  }
}

export function readMetadata(metadata: Readonly<Record<string, string>> | undefined): FileMetadata {
  const { mtime, mode, 'ws-writes': writes, 'ws-crc32': crc32 } = metadata ?? {}
  return {
    modifiedAt: mtime === undefined ? undefined : parseSeconds(mtime),
    mode: mode === undefined ? undefined : parseMode(mode),
    crc32: crc32 !== undefined && /^[0-9a-f]{8}$/u.test(crc32) ? Number.parseInt(crc32, 16) : undefined,
    writes: writes === undefined || writes === '' ? [] : writes.split(','),
  }
}

/** Encodes unusual header values by RFC 2047, as S3 does. */
function toHeader(value: string): string {
  return /^[\u0020-\u007e]*$/u.test(value) ? value : `=?UTF-8?B?${Buffer.from(fromHeader(value)).toString('base64')}?=`
}

/** Decodes a header value. Headers arrive as Latin-1, and mostly contain UTF-8. */
function fromHeader(value: string): string {
  if (/[\u0100-\uffff]/u.test(value)) return value
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

function formatSeconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds / 1000)
  const rest = Math.round(milliseconds - whole * 1000)
  return rest === 0 ? `${whole}` : `${whole}.${String(rest).padStart(3, '0')}`
}

function parseSeconds(text: string): number | undefined {
  if (!/^-?\d{1,12}(?:\.\d{1,12})?$/u.test(text)) return undefined
  return fileTimes.dateable(Math.round(Number(text) * 1000))
}

/** Parses octal modes, with or without the file type. Decimal modes of s3fs include the type, and never look octal. */
function parseMode(text: string): number | undefined {
  if (/^0*(?:10|4)?[0-7]{3,4}$/u.test(text)) return Number.parseInt(text, 8) & 0o777
  const decimal = /^\d{5}$/u.test(text) ? Number(text) : 0
  return (decimal & 0o170000) === 0o100000 ? decimal & 0o777 : undefined
}
