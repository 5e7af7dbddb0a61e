import type { VirtualPath } from '@ws/core'
import type { DecodedText } from '@ws/documents'

import type { Outcome } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'
import { byteLength, linesOf } from '../text/lines.ts'
import { clipLine, count, numberLine } from '../text/numbered.ts'
import { openText } from './content.ts'

export interface WindowRequest {
  readonly path: VirtualPath
  /** The first line, from 0. */
  readonly offset: number
  readonly limit: number
  readonly words?: WindowWords | undefined
}

export interface WindowWords {
  /** The call that reads on at a line; its offset counts from 0. */
  line(offset: number): string
  /** The call that reads the rest of a cut line, from a byte offset. */
  byte(offset: number): string
}

const ownWords: WindowWords = {
  line: (offset) => `offset ${offset}`,
  byte: (offset) => `read_chunked at offset_bytes ${offset}`,
}

interface Window {
  readonly lines: readonly string[]
  readonly offset: number
  /** Lines of the file; absent where the lines of a long file were not counted. */
  readonly total: number | undefined
  readonly version: string
  readonly facts: DecodedText | undefined
  readonly byteOffset?: ((line: number) => number) | undefined
}

export async function readWindow(
  call: Call,
  { path, offset, limit, words = ownWords }: WindowRequest,
): Promise<Outcome> {
  const window = await openWindow(call, path, offset, limit)
  const { lines, total, version, facts } = window
  call.session.see(path, version)
  const shared = { path, version, ...(facts && { encoding: facts.encoding, line_ending: facts.lineEnding }) }
  if (lines.length === 0) {
    const text =
      total === 0
        ? '(the file is empty)'
        : `(no lines: ${words.line(offset)} lies behind the end; the file has ${count(total ?? 0, 'line')})`
    return {
      text: `${text}${call.versioned(`\n[version ${version}]`)}`,
      data: { ...shared, lines: 0, total_lines: total },
      ...(total !== 0 && { next: { operation: 'read', arguments: { path } } }),
    }
  }
  const shown = render(call, window, words)
  const end = window.offset + shown.lines
  const isWhole = total !== undefined && end >= total
  const range = `lines ${window.offset + 1}–${end} of ${total ?? 'more'}`
  const footer = [
    range,
    ...(isWhole ? [] : [`next: ${words.line(end)}`]),
    ...encodingNotes(facts),
    ...[call.versioned(`version ${version}`)].filter(Boolean),
  ]
  return {
    text: `${shown.text}\n[${footer.join('; ')}]`,
    data: { ...shared, start_line: window.offset + 1, end_line: end, total_lines: total },
    ...(!isWhole && { next: { operation: 'read', arguments: { path, offset: end, limit } } }),
  }
}

function encodingNotes(facts: DecodedText | undefined): string[] {
  if (facts === undefined) return []
  const notes: string[] = []
  if (facts.detection === 'guess') notes.push(`encoding ${facts.encoding} is a guess: do not write this text back`)
  else if (facts.encoding !== 'utf-8') notes.push(`encoding ${facts.encoding}`)
  if (facts.lineEnding === 'crlf' || facts.lineEnding === 'mixed') notes.push(`line ends ${facts.lineEnding}`)
  if (!facts.finalNewline) notes.push('no newline at the end')
  return notes
}

async function openWindow(call: Call, path: VirtualPath, offset: number, limit: number): Promise<Window> {
  const file = await openText(call, path)
  if (file.kind === 'whole') {
    const all = linesOf(file.text)
    const { version } = file.stat
    return {
      lines: all.slice(offset, offset + limit),
      offset,
      total: all.length,
      version,
      facts: file,
      ...(file.encoding === 'utf-8' && { byteOffset: (line) => byteOffsetIn(file, line) }),
    }
  }
  const {
    lines,
    nextOffset,
    stat,
    offset: first,
  } = await call.workspace.readLines(path, {
    offset,
    limit,
    signal: call.signal,
  })
  const total = nextOffset === undefined ? first + lines.length : undefined
  return { lines, offset: first, total, version: stat.version, facts: undefined }
}

function byteOffsetIn({ text, bom }: DecodedText, line: number): number {
  let start = 0
  for (let passed = 0; passed < line; passed += 1) start = text.indexOf('\n', start) + 1
  return byteLength(text.slice(0, start)) + (bom ? 3 : 0)
}

function render(
  call: Call,
  { lines, offset, byteOffset }: Window,
  words: WindowWords,
): { readonly text: string; readonly lines: number } {
  const parts: string[] = []
  let length = 0
  for (const [index, line] of lines.entries()) {
    const { text, cut } = clipLine(line)
    const part = numberLine(
      offset + index + 1,
      `${text}${cut === 0 ? '' : cutNotice(cut, text, byteOffset?.(offset + index), words)}`,
    )
    if (parts.length > 0 && length + part.length + 1 > call.maxCharacters) break
    parts.push(part)
    length += part.length + 1
  }
  return { text: parts.join('\n'), lines: parts.length }
}

function cutNotice(cut: number, shown: string, start: number | undefined, words: WindowWords): string {
  const way = start === undefined ? '' : `; go on with ${words.byte(start + byteLength(shown))}`
  return `… [${cut} characters cut${way}]`
}
