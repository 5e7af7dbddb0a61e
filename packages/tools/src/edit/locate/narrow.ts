import type { Place } from './exact.ts'

const lf = '\n'
const lfByte = 10

/** The texts of an edit with LF, and how the new one is put in the place of the old one. */
export interface Texts {
  readonly old: string
  readonly new: string
  /** Gives the new text the indent of the place; `undefined` where that is not possible. */
  readonly shift?: ((text: string) => string | undefined) | undefined
}

/**
 * The part of a place that changes. Whole lines that the old and the new text share at both ends keep their own bytes:
 * blanks at their ends, look-alike characters, line ends.
 */
export function narrow(
  bytes: Buffer,
  { start, end }: Place,
  { old, new: text, shift }: Texts,
): (Place & { readonly newText: string }) | undefined {
  const head = sharedHead(old, text)
  const tail = sharedTail(old.slice(head), text.slice(head))
  const changed = text.slice(head, text.length - tail)
  const newText = shift === undefined ? changed : shift(changed)
  if (newText === undefined) return undefined
  return {
    start: skipLines(bytes, start, countLf(old.slice(0, head))),
    end: tail === 0 ? end : skipLinesBack(bytes, end, countLf(old.slice(old.length - tail))),
    newText,
  }
}

/** Characters of whole lines that both begin with. */
function sharedHead(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  let same = 0
  while (same < length && left[same] === right[same]) same += 1
  return same === 0 ? 0 : left.lastIndexOf(lf, same - 1) + 1
}

/** Characters of whole lines that both end with: they stand behind a line end in both. */
function sharedTail(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  let same = 0
  while (same < length && left[left.length - 1 - same] === right[right.length - 1 - same]) same += 1
  const first = left.indexOf(lf, left.length - same)
  return same === 0 || first === -1 ? 0 : left.length - first - 1
}

function countLf(text: string): number {
  let count = 0
  for (let at = text.indexOf(lf); at !== -1; at = text.indexOf(lf, at + 1)) count += 1
  return count
}

function skipLines(bytes: Buffer, offset: number, count: number): number {
  let at = offset
  for (let line = 0; line < count; line++) at = bytes.indexOf(lfByte, at) + 1
  return at
}

/** The place behind the line end that stands before the last `count` line ends. */
function skipLinesBack(bytes: Buffer, offset: number, count: number): number {
  let at = offset
  for (let line = 0; line <= count; line++) at = bytes.lastIndexOf(lfByte, at - 1)
  return at + 1
}
