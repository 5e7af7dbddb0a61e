import { createHash } from 'node:crypto'

import type { WorkspaceError } from '@ws/core'
import { execError } from '@ws/core/executor'

/** An entry of the machine's list. */
export interface Seen {
  /** The path below the root, a character for each byte: names need not be UTF-8. */
  readonly key: string
  /** `closed`: a directory that may not be read there. */
  readonly type: 'file' | 'directory' | 'symlink' | 'closed'
  readonly mode: number
  readonly size: number
  readonly target: string
  /** The size and time of a file. */
  readonly facts: string
  /** The whole record. It changes with the content, the target or the mode. */
  readonly record: string
}

const types = { f: 'file', d: 'directory', l: 'symlink', x: 'closed' } as const
const form =
  /^(?<type>[fdlx]) (?<mode>[0-7]{1,5})(?: (?<size>\d+)(?: [\d.-]+)*?(?: (?<time>-?\d+\.\d+))?)? \/(?<key>.+?)\/\/(?<target>.*)$/su

/** @throws WorkspaceError `EIO` for records that this package's program does not print */
export function readRecords(list: Buffer): Seen[] {
  const records = list.toString('latin1').split('\0')
  if (records.pop() !== '') throw failure('gave an incomplete list of its files')
  return records.map((record) => readRecord(record))
}

function readRecord(record: string): Seen {
  const { type, mode = '', size = '0', time = '', key = '', target = '' } = form.exec(record)?.groups ?? {}
  if (type === undefined) throw failure('gave a list of files that cannot be read')
  const isBelow = !key.split('/').some((name) => ['', '.', '..'].includes(name))
  if (!isBelow) throw failure('names files outside the workspace') // @defence a machine that names files outside: as a file of the workspace
  const bits = Number.parseInt(mode, 8) & 0o777
  return {
    key,
    type: types[type as keyof typeof types],
    mode: bits,
    size: Number(size),
    target,
    facts: `${size} ${time}`,
    record,
  }
}

/** True if another type, or nothing, took the place of an entry. */
export function isOther(before: Seen, now: Seen | undefined): boolean {
  const typeOf = ({ type }: Seen) => (type === 'closed' ? 'directory' : type)
  return now === undefined || typeOf(before) !== typeOf(now)
}

/** The digests of files by key. */
export function readDigests(list: Buffer): Map<string, string> {
  const pairs = list.toString('latin1').split('\0').slice(0, -1)
  return new Map(pairs.map((pair) => [pair.slice(68), pair.slice(0, 64)]))
}

/** The records in the machine's order, which is that of their bytes. */
export function joinRecords(records: Iterable<string>): Buffer {
  const sorted = [...records].sort((a, b) => (a < b ? -1 : a === b ? 0 : 1))
  return Buffer.from(sorted.map((record) => `${record}\0`).join(''), 'latin1')
}

/** Names to remove, the deepest first. */
export function removalsOf(keys: readonly string[]): Buffer {
  const names = keys.toSorted().toReversed()
  return Buffer.from(names.map((key) => `./${key}\0`).join(''), 'latin1')
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of bytes, or `undefined` if they are not UTF-8. */
export function textOf(latin1: string): string | undefined {
  try {
    return decoder.decode(Buffer.from(latin1, 'latin1'))
  } catch {
    return undefined
  }
}

export function keyOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Shows a name that is not UTF-8. */
export function showBytes(latin1: string): string {
  return latin1.replaceAll(/[^ -~]/gu, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

export const remedy = 'look at the machine, or start a new one'

export function failure(what: string, native?: unknown): WorkspaceError {
  return execError('EIO', `the machine ${what}`, { remedy, native })
}
