/** An object's own data as rclone keeps it, and which writes made it. */
export interface FileMetadata {
  /** Milliseconds since the epoch. */
  readonly modifiedAt?: number | undefined
  /** Permission bits. */
  readonly mode?: number | undefined
  /** The ids of the write that made it and of those it knew to be before it, the latest first. */
  readonly writes: readonly string[]
}

/**
 * Ids that are kept: so many writers may come between a write and the question whether it has happened. They take half a
 * KiB, of the two that S3 gives to metadata.
 */
export const keptWrites = 64

/** An id that no other write near it has. */
export function makeWriteId(): string {
  return crypto.getRandomValues(Buffer.alloc(6)).toString('base64url')
}

export function writeMetadata({ modifiedAt, mode, writes }: FileMetadata): Record<string, string> {
  return {
    ...(modifiedAt === undefined ? {} : { mtime: `${formatSeconds(modifiedAt)}` }),
    // with the type, in octal, as `rclone --metadata` writes it
    ...(mode === undefined ? {} : { mode: (0o100000 | (mode & 0o777)).toString(8) }),
    ...(writes.length === 0 ? {} : { 'ws-writes': writes.slice(0, keptWrites).join(',') }),
  }
}

export function readMetadata(metadata: Readonly<Record<string, string>> | undefined): FileMetadata {
  const { mtime, mode, 'ws-writes': writes } = metadata ?? {}
  return {
    modifiedAt: mtime === undefined ? undefined : parseSeconds(mtime),
    mode: mode === undefined ? undefined : parseMode(mode),
    writes: writes === undefined || writes === '' ? [] : writes.split(','),
  }
}

/** Decimal seconds. */
function formatSeconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds / 1000)
  const rest = Math.round(milliseconds - whole * 1000)
  return rest === 0 ? `${whole}` : `${whole}.${String(rest).padStart(3, '0')}`
}

function parseSeconds(text: string): number | undefined {
  if (!/^-?\d{1,12}(?:\.\d{1,12})?$/u.test(text)) return undefined
  return Math.round(Number(text) * 1000)
}

/** Octal, with or without the type; s3fs writes decimal numbers, which with the type never look octal by their size. */
function parseMode(text: string): number | undefined {
  if (/^0*(?:10|4)?[0-7]{3,4}$/u.test(text)) return Number.parseInt(text, 8) & 0o777
  const decimal = /^\d{5}$/u.test(text) ? Number(text) : 0
  return (decimal & 0o170000) === 0o100000 ? decimal & 0o777 : undefined
}
