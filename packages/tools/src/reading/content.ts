import { isWorkspaceError, quotePath } from '@ws/core'
import type { Stat, VirtualPath } from '@ws/core'
import { looksBinary } from '@ws/documents'

import { ToolProblem } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'
import { decode } from './decode.ts'
import type { DecodedText } from './decode.ts'

/** Bytes of a file that is read at once; of larger ones a window is read from a stream. */
const wholeFileBytes = 1024 * 1024
/** Bytes that say whether a file is text [FS2]. */
export const headBytes = 8192

export interface SmallText extends DecodedText {
  readonly kind: 'whole'
  readonly stat: Stat
}

export interface LargeFile {
  readonly kind: 'large'
  readonly stat: Stat
  readonly head: Uint8Array
}

/** A text file: all of it, or its head where it is large. A binary file is a problem that names its type [FS2]. */
export async function openText(call: Call, path: VirtualPath): Promise<SmallText | LargeFile> {
  const { workspace, signal } = call
  try {
    const { bytes, stat } = await workspace.read(path, { maxBytes: wholeFileBytes, signal })
    refuseBinary(path, bytes.subarray(0, headBytes), stat)
    return { kind: 'whole', stat, ...decodeOrRefuse(path, bytes, stat) }
  } catch (error) {
    if (!isWorkspaceError(error, 'EFBIG')) throw error
  }
  const { bytes, stat } = await workspace.read(path, { range: { offset: 0, length: headBytes }, signal })
  refuseBinary(path, bytes, stat)
  return { kind: 'large', stat, head: bytes }
}

/** @throws ToolProblem for bytes that are not text [FS3] */
export function refuseBinary(path: VirtualPath, head: Uint8Array, { size }: Stat): void {
  if (isPdf(head)) {
    throw new ToolProblem({
      sentence: `${quotePath(path)} is a PDF of ${size} bytes`,
      remedy: 'read its pages with `read_chunked`',
      next: { operation: 'read_chunked', arguments: { path, pages: '1-5' } },
      data: { code: 'EINVAL', path, type: 'application/pdf' },
    })
  }
  // two bytes for each character: a NUL is part of the text
  if (hasWideMark(head) || !looksBinary(head)) return
  const type = typeOf(head)
  throw new ToolProblem({
    sentence: `${quotePath(path)} is a binary file (${type}, ${size} bytes), which has no text to read`,
    remedy: 'look at its type and size with `inspect`',
    next: { operation: 'inspect', arguments: { path } },
    data: { code: 'EINVAL', path, type },
  })
}

export function isPdf(head: Uint8Array): boolean {
  return startsWith(head, [0x25, 0x50, 0x44, 0x46, 0x2d])
}

function hasWideMark(head: Uint8Array): boolean {
  return startsWith(head, [0xff, 0xfe]) || startsWith(head, [0xfe, 0xff])
}

const signatures: readonly (readonly [readonly number[], string])[] = [
  [[0x89, 0x50, 0x4e, 0x47], 'image/png'],
  [[0xff, 0xd8, 0xff], 'image/jpeg'],
  [[0x47, 0x49, 0x46, 0x38], 'image/gif'],
  [[0x50, 0x4b, 0x03, 0x04], 'application/zip'],
  [[0x1f, 0x8b], 'application/gzip'],
  [[0x7f, 0x45, 0x4c, 0x46], 'application/x-elf'],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], 'application/pdf'],
]

/** The type that the first bytes tell. */
export function typeOf(head: Uint8Array): string {
  return signatures.find(([bytes]) => startsWith(head, bytes))?.[1] ?? 'application/octet-stream'
}

function startsWith(head: Uint8Array, bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => head[index] === byte)
}

function decodeOrRefuse(path: VirtualPath, bytes: Uint8Array, stat: Stat): DecodedText {
  const text = decode(bytes)
  if (text !== undefined) return text
  throw new ToolProblem({
    sentence: `${quotePath(path)} is not UTF-8 text (${stat.size} bytes)`,
    remedy: 'look at it with `read_chunked`, which shows other bytes as U+FFFD',
    next: { operation: 'read_chunked', arguments: { path, offset_bytes: 0 } },
    data: { code: 'EINVAL', path },
  })
}
