import { quotePath } from '@ws/core'
import type { VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'

/** One replacement: `old` must be found at one place, or at each with `all`. */
export interface Edit {
  readonly old: string
  readonly new: string
  readonly all?: boolean | undefined
}

export interface Replaced {
  readonly content: Uint8Array
  /** Lines, from 1, at which something was replaced. */
  readonly lines: readonly number[]
}

interface Span {
  readonly start: number
  readonly end: number
  readonly text: Buffer
}

/**
 * The content with all edits made, each found in the content as it was. The bytes around them stay as they are.
 *
 * @throws ToolProblem for a text that is not there, or there more than once without `all` [PC23]
 */
export function replaceText(path: VirtualPath, bytes: Uint8Array, edits: readonly Edit[]): Replaced {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isCrlf = content.includes('\r\n')
  const spans = edits.flatMap((edit, index) => locate(path, content, edit, index, { isCrlf, edits }))
  const sorted = spans.toSorted((left, right) => left.start - right.start)
  for (const [index, span] of sorted.entries()) {
    const before = sorted[index - 1]
    if (before !== undefined && before.end > span.start) {
      throw problem(path, 'two edits overlap', 'join them into one edit', edits[0])
    }
  }
  const parts: Uint8Array[] = []
  let end = 0
  for (const span of sorted) {
    parts.push(content.subarray(end, span.start), span.text)
    end = span.end
  }
  parts.push(content.subarray(end))
  return { content: Buffer.concat(parts), lines: lineNumbers(content, sorted) }
}

function locate(
  path: VirtualPath,
  content: Buffer,
  { old, new: text, all = false }: Edit,
  index: number,
  { isCrlf, edits }: { readonly isCrlf: boolean; readonly edits: readonly Edit[] },
): Span[] {
  const name = edits.length === 1 ? '`old`' : `\`old\` of edit ${index + 1}`
  if (old === text)
    throw problem(path, `${name} and the new text are the same`, 'give the text as it should be', undefined)
  const exact = placesOf(content, Buffer.from(old))
  // a model sees lines without their ends, and writes LF
  const needsCrlf = exact.length === 0 && isCrlf && old.includes('\n')
  const wanted = needsCrlf ? Buffer.from(withCrlf(old)) : Buffer.from(old)
  const places = needsCrlf ? placesOf(content, wanted) : exact
  const replacement = Buffer.from(isCrlf && !hasLfAlone(content) ? withCrlf(text) : text)
  if (places.length === 0) {
    throw problem(
      path,
      `${name} was not found in ${quotePath(path)}`,
      'read the file, and copy the text exactly',
      undefined,
      nearest(content, old),
    )
  }
  if (places.length > 1 && !all) {
    const lines = lineNumbers(
      content,
      places.map((start) => ({ start })),
    )
    throw problem(
      path,
      `${name} was found ${places.length} times in ${quotePath(path)} (lines ${lines.slice(0, 10).join(', ')}${lines.length > 10 ? ', …' : ''})`,
      'add lines around it so that it is unique, or pass `all`',
      edits.length === 1 ? { old, new: text, all: true } : undefined,
    )
  }
  return places.map((start) => ({ start, end: start + wanted.length, text: replacement }))
}

function withCrlf(text: string): string {
  return text.replaceAll(/\r?\n/gu, '\r\n')
}

/** Some line ends with LF alone, so that the line ends of the file are mixed. */
function hasLfAlone(content: Buffer): boolean {
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) if (content[at - 1] !== 13) return true
  return false
}

function placesOf(content: Buffer, wanted: Buffer): number[] {
  const places: number[] = []
  for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, at + wanted.length)) places.push(at)
  return places
}

function lineNumbers(content: Buffer, spans: readonly { readonly start: number }[]): number[] {
  const numbers: number[] = []
  let line = 1
  let at = content.indexOf(10)
  for (const { start } of spans) {
    while (at >= 0 && at < start) {
      line += 1
      at = content.indexOf(10, at + 1)
    }
    numbers.push(line)
  }
  return numbers
}

/** The lines around a line that holds the first words of the text. */
function nearest(content: Buffer, old: string): string | undefined {
  const wanted = old
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line.length > 2)
  if (wanted === undefined || content.length > 4 * 1024 * 1024) return undefined
  const lines = content.toString().split('\n')
  const at = lines.findIndex((line) => line.includes(wanted))
  const plain = wanted.replaceAll(/\s+/gu, '').toLowerCase()
  const index = at >= 0 ? at : lines.findIndex((line) => line.replaceAll(/\s+/gu, '').toLowerCase().includes(plain))
  if (index < 0) return undefined
  const shown = lines.slice(Math.max(0, index - 1), index + old.split('\n').length + 1)
  return `The nearest passage begins at line ${Math.max(1, index)}:\n${shown.join('\n').slice(0, 2000)}`
}

function problem(
  path: VirtualPath,
  sentence: string,
  remedy: string,
  edit: Edit | undefined,
  details?: string,
): ToolProblem {
  return new ToolProblem({
    sentence,
    remedy: `nothing was changed; ${remedy}`,
    next:
      edit === undefined
        ? { operation: 'read', arguments: { path } }
        : {
            operation: 'replace',
            arguments: { path, old: edit.old, new: edit.new, ...(edit.all === true && { all: true }) },
          },
    details,
    data: { code: 'EINVAL', path },
  })
}
