import { encodeText } from '@ws/shell-tools/files'

import type { WordPart } from '../state/nodes.ts'

const buckets = 1024
export const mostKeys = 2 * buckets - 1

/** Sorts keys as bash does: by hash bucket, with the newest key first in each bucket. */
function inOrderOfBash(keys: Iterable<string>): string[] {
  const placed = [...keys].reverse().map((key) => ({ key, bucket: bucketOf(key) }))
  return placed.sort((left, right) => left.bucket - right.bucket).map(({ key }) => key)
}

/** Hashes a key with FNV-1 over signed bytes. */
function bucketOf(key: string): number {
  let hash = 2_166_136_261
  for (const byte of encodeText(key)) hash = Math.imul(hash, 16_777_619) ^ ((byte << 24) >> 24)
  return (hash >>> 0) % buckets
}

const mark = '\u{f0008}'

/** The same elements, with new keys: just-bash sorts these keys in bash's order. */
export function numbered(elements: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(
    inOrderOfBash(elements.keys()).map((key, index) => [
      `${mark}${String(index).padStart(4, '0')}${key}`,
      elements.get(key) ?? '',
    ]),
  )
}

export const withoutNumbers = (text: string): string => text.replace(/\u{f0008}\d{4}/gu, '')

export function arrayOf({ parameter = '', operation }: WordPart): string | undefined {
  return operation?.type === 'ArrayKeys' ? operation.array : /^(\w+)\[[@*]\]$/.exec(parameter)?.[1]
}
