import { lstatSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

import { asText } from '../control/text.ts'
import { unlessMissing } from './disk.ts'

export interface CachedFile {
  /** The file has content that the store does not have yet. */
  readonly dirty: boolean
  /** When the content in the cache was changed, in nanoseconds since the epoch. */
  readonly mtimeNs: bigint
  readonly size: number
  readonly complete: boolean
  /** `size,hash` of the store's object with the same content; `""` for none. */
  readonly fingerprint: string
}

/** Returned if rclone's note about a file cannot be read: the file then counts as not uploaded. */
const unknown: CachedFile = { dirty: true, mtimeNs: 0n, size: -1, complete: false, fingerprint: '' }

/** Reads the cache's note of a file; `undefined` without a note. rclone marks the file dirty before it acknowledges the first byte. */
export async function readCachedFile(path: string | Buffer): Promise<CachedFile | undefined> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const found = lookAtCachedFile(path)
    if (found !== 'changing') return found
    await delay(1)
  }
  return unknown
}

/** Like {@link readCachedFile} without waiting; `changing` while rclone writes the note. */
export function lookAtCachedFile(path: string | Buffer): CachedFile | 'changing' | undefined {
  const text = whereThere(() => readFileSync(path, 'utf8'))
  return text === undefined ? undefined : (parse(text) ?? 'changing')
}

/** Identifies the note of one file: a renamed file keeps its note. `undefined` without a note. */
export function noteOf(path: string): bigint | undefined {
  return whereThere(() => lstatSync(path, { bigint: true }).ino)
}

/** A directory of notes, and a name that is too long for a note. */
const withoutNote = new Set(['EISDIR', 'ENAMETOOLONG'])

/** Runs `look`. `undefined` if the cache has no note. */
function whereThere<Found>(look: () => Found): Found | undefined {
  try {
    return look()
  } catch (error) {
    if (withoutNote.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    return unlessMissing(error)
  }
}

/** MD5 of the store's object that the note describes, in hexadecimal. */
export function hashInNote(note: CachedFile | undefined): string | undefined {
  const hash = note?.fingerprint.split(',').at(-1) ?? ''
  return /^[0-9a-f]{32}$/.test(hash) ? hash : undefined
}

interface Range {
  readonly Pos: number
  readonly Size: number
}

function parse(text: string): CachedFile | undefined {
  try {
    const { Dirty, ModTime, Size, Rs, Fingerprint } = JSON.parse(text) as Record<string, unknown>
    if (typeof Dirty !== 'boolean' || typeof Size !== 'number') return undefined
    const [first] = (Rs ?? []) as readonly Range[]
    const complete = Size === 0 || (first?.Pos === 0 && first.Size >= Size)
    return {
      dirty: Dirty,
      mtimeNs: readTime(asText(ModTime)),
      size: Size,
      complete,
      fingerprint: asText(Fingerprint),
    }
  } catch {
    return undefined
  }
}

/** RFC 3339 with up to nine digits after the second, as nanoseconds since the epoch; 0 for any other text. */
function readTime(text: string): bigint {
  const [, seconds = '', fraction = '', zone = ''] = /^([^.]*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  const ms = Date.parse(seconds + zone)
  return Number.isNaN(ms) ? 0n : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9))
}
