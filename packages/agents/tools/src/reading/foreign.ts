import type { VirtualPath } from '@ws/core'

import type { Call } from '../session/session.ts'
import { tryDecode, tryDecodeHead, wholeFileBytes } from './content.ts'

export interface ForeignText {
  readonly encoding: string
  readonly notes: readonly string[]
  /** The start of the character at an index of bytes that begin at byte `from` of the file. */
  readonly align: (bytes: Uint8Array, index: number, from: number) => number
}

/** How `read` decodes the text; `undefined` for UTF-8. In a large file only UTF-16 is detected. */
export async function openForeign(call: Call, path: VirtualPath, head: Uint8Array): Promise<ForeignText | undefined> {
  const { workspace, signal } = call
  const { size } = await workspace.stat(path, { followLinks: true, signal })
  const isLarge = size > wholeFileBytes
  const whole = isLarge ? undefined : (await workspace.read(path, { signal })).bytes
  const facts = whole === undefined ? tryDecodeHead(head) : tryDecode(whole)
  if (facts === undefined || facts.encoding === 'utf-8') return undefined
  const { encoding, detection } = facts
  const guessed = detection === 'guess' ? ' is a guess: do not write this text back' : ''
  const notes = [`encoding ${encoding}${guessed}`]
  if (encoding.startsWith('utf-16'))
    return { encoding, notes, align: (bytes, index, from) => evenIndex(bytes, index, from, encoding) }
  if (whole === undefined)
    return {
      encoding: 'utf-8',
      notes: ['not UTF-8: other bytes are U+FFFD'],
      align: (bytes, index) => Math.min(index, bytes.length),
    }
  return {
    encoding,
    notes,
    align: (bytes, index, from) => Math.min(bytes.length, wholeCharacters(whole, from + index, encoding) - from),
  }
}

/** An index at an even byte of the file that does not split a surrogate pair. */
function evenIndex(bytes: Uint8Array, index: number, from: number, encoding: string): number {
  const even = Math.min(bytes.length, index - ((from + index) % 2))
  const high = bytes[encoding === 'utf-16le' ? even + 1 : even] ?? 0
  return high >= 0xdc && high <= 0xdf && even >= 2 ? even - 2 : even
}

/** The largest index, up to the given index, at which whole characters end. A character has at most four bytes. */
function wholeCharacters(whole: Uint8Array, index: number, encoding: string): number {
  if (index >= whole.length) return whole.length
  for (let end = index; end > 0 && end > index - 4; end -= 1) {
    try {
      new TextDecoder(encoding, { fatal: true }).decode(whole.subarray(0, end))
      return end
    } catch {
      // the bytes end inside a character
    }
  }
  return index
}
