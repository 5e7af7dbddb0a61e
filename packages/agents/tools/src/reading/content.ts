import { isWorkspaceError, quotePath } from '@ws/core'
import type { Stat, VirtualPath } from '@ws/core'
import { decodeText, describeType, looksBinary, type DecodedText } from '@ws/documents'

import { ToolProblem } from '../answers/problem.ts'
import { imageTypeOf } from '../images/header.ts'
import type { Call } from '../session/session.ts'
import { officeProblem } from './office.ts'
import { allPages } from './pages.ts'

/** Bytes of the largest file that is read at once; larger files are streamed. */
export const wholeFileBytes = 1024 * 1024
/** Bytes that decide whether a file is text [FS2]. */
export const headBytes = 8192

export interface SmallText extends DecodedText {
  readonly kind: 'whole'
  readonly stat: Stat
}

export interface LargeFile {
  readonly kind: 'large'
  readonly stat: Stat
}

/** A whole small text file, or the head of a large one. A binary file is a problem that names its type [FS2]. */
export async function openText(call: Call, path: VirtualPath): Promise<SmallText | LargeFile> {
  const { workspace, signal } = call
  try {
    const { bytes, stat } = await workspace.read(path, { maxBytes: wholeFileBytes, signal })
    await refuseBinary(call, path, bytes.subarray(0, headBytes), stat)
    return { kind: 'whole', stat, ...decodeOrRefuse(path, bytes, stat) }
  } catch (error) {
    if (!isWorkspaceError(error, 'EFBIG')) throw error
  }
  const { bytes, stat } = await workspace.read(path, { range: { offset: 0, length: headBytes }, signal })
  await refuseBinary(call, path, bytes, stat)
  const encoding = tryDecodeHead(bytes)?.encoding ?? 'of no known encoding'
  if (encoding !== 'utf-8') throw undecodable(path, stat, `is ${encoding}; over 1 MiB only UTF-8 is read`)
  return { kind: 'large', stat }
}

export async function refuseBinary(call: Call, path: VirtualPath, head: Uint8Array, { size }: Stat): Promise<void> {
  if (isPdf(head)) {
    throw new ToolProblem({
      sentence: `${quotePath(path)} is a PDF of ${size} bytes`,
      remedy: 'read its pages with `read_chunked`',
      next: { operation: 'read_chunked', arguments: { path, pages: allPages } },
      data: { code: 'EINVAL', path, type: 'application/pdf' },
    })
  }
  if (!looksBinary(head)) return
  const type = await typeOf(head)
  throw new ToolProblem({
    sentence: `${quotePath(path)} is a binary file (${type}, ${size} bytes), which has no text to read`,
    remedy: 'look at its type and size with `inspect`',
    next: { operation: 'inspect', arguments: { path } },
    ...(await officeProblem(call, path, { type, size })),
    data: { code: 'EINVAL', path, type },
  })
}

/** PDF readers search for the mark in these first bytes. */
const markedWithin = 1024

const startOf = (head: Uint8Array) => Buffer.from(head.subarray(0, markedWithin)).toString('latin1')

/** True for a text, too, that only mentions the mark. */
export const hasPdfMark = (head: Uint8Array): boolean => startOf(head).includes('%PDF-')

/** A PDF may begin with blanks, a byte order mark or a header. A text with a later mark is text, and an image is an image. */
export function isPdf(head: Uint8Array): boolean {
  const text = startOf(head)
  const at = text.search(/%PDF-\d/u)
  if (imageTypeOf(head) !== undefined && looksBinary(head)) return false
  if (at <= 0) return at === 0 || text.startsWith('%PDF-')
  return /^[\s\0\u00ef\u00bb\u00bf]*$/u.test(text.slice(0, at)) || looksBinary(head)
}

export async function typeOf(head: Uint8Array): Promise<string> {
  return (await describeType(head))?.mime ?? 'application/octet-stream'
}

export function tryDecodeHead(bytes: Uint8Array): DecodedText | undefined {
  return tryDecode(withoutCutCharacter(bytes)) ?? tryDecode(bytes)
}

function withoutCutCharacter(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (end > bytes.length - 4 && end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1
  return (bytes[end - 1] ?? 0) >= 0xc0 ? bytes.subarray(0, end - 1) : bytes
}

/** `undefined` where the bytes contradict their byte order mark. */
export function tryDecode(bytes: Uint8Array): DecodedText | undefined {
  try {
    return decodeText(bytes)
  } catch (error) {
    if (isWorkspaceError(error, 'EINVAL')) return undefined
    throw error
  }
}

function decodeOrRefuse(path: VirtualPath, bytes: Uint8Array, stat: Stat): DecodedText {
  const text = tryDecode(bytes)
  if (text !== undefined) return text
  throw undecodable(path, stat, 'is not in the encoding that its byte order mark names')
}

function undecodable(path: VirtualPath, stat: Stat, reason: string): ToolProblem {
  return new ToolProblem({
    sentence: `${quotePath(path)} ${reason} (${stat.size} bytes)`,
    remedy: 'look at it with `read_chunked`, which shows other bytes as U+FFFD',
    next: { operation: 'read_chunked', arguments: { path, offset_bytes: 0 } },
    data: { code: 'EINVAL', path },
  })
}
