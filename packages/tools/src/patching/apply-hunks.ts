import { PatchProblem } from './hunks.ts'
import type { Hunk } from './hunks.ts'

interface Change {
  readonly start: number
  readonly end: number
  readonly lines: readonly string[]
}

/**
 * The bytes with all hunks made. Each must be found at exactly one place: behind its anchors, or in the whole file. Line
 * ends, the last newline and all other bytes stay.
 *
 * @throws PatchProblem
 */
export function applyHunks(bytes: Uint8Array, hunks: readonly Hunk[]): Uint8Array {
  // one character for each byte: bytes that are not UTF-8 survive
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const kept = content === '' ? [] : content.split('\n')
  const isClosed = kept.at(-1) === ''
  if (isClosed) kept.pop()
  const lines = kept.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  const lineEnd = content.includes('\r\n') ? '\r' : ''
  const changes = hunks.map((hunk, index) => locate(lines, asBytes(hunk), index))
  const sorted = changes.toSorted((left, right) => right.start - left.start)
  let upper = Number.POSITIVE_INFINITY
  for (const { start, end, lines: added } of sorted) {
    if (end > upper) throw new PatchProblem('two hunks overlap')
    upper = start
    const own = kept.slice(start, end)
    kept.splice(start, end - start, ...added.map((line) => reuse(own, line) ?? `${line}${lineEnd}`))
  }
  const last = kept.at(-1)
  // the last line of a file without a last newline has no line end of its own
  if (!isClosed && last?.endsWith('\r') === true && !content.endsWith('\r')) kept[kept.length - 1] = last.slice(0, -1)
  const text = kept.join('\n')
  return Buffer.from(kept.length > 0 && (isClosed || content === '') ? `${text}\n` : text, 'latin1')
}

/** A line that stays keeps its own line end. */
function reuse(own: string[], line: string): string | undefined {
  const index = own.findIndex((kept) => kept === line || kept === `${line}\r`)
  return index < 0 ? undefined : own.splice(0, index + 1).at(-1)
}

function asBytes({ anchors, old, new: added, atEnd }: Hunk): Hunk {
  const convert = (all: readonly string[]): string[] => all.map((line) => Buffer.from(line).toString('latin1'))
  return { anchors: convert(anchors), old: convert(old), new: convert(added), atEnd }
}

function locate(lines: readonly string[], { anchors, old, new: added, atEnd }: Hunk, index: number): Change {
  const name = `hunk ${index + 1}`
  let from = 0
  for (const anchor of anchors) {
    const found = placesOf(lines, [anchor], from, (line) => line.trim())
    const [first] = found
    if (first === undefined)
      throw new PatchProblem(`the line behind \`@@\` of ${name} was not found: \`${anchor.slice(0, 80)}\``)
    if (found.length > 1) {
      throw new PatchProblem(
        `the line behind \`@@\` of ${name} was found ${found.length} times (lines ${numbers(found)})`,
      )
    }
    from = first + 1
  }
  if (old.length === 0) {
    if (atEnd) return { start: lines.length, end: lines.length, lines: added }
    if (anchors.length > 0) return { start: from, end: from, lines: added }
    if (lines.length === 0) return { start: 0, end: 0, lines: added }
    throw new PatchProblem(`${name} only adds lines, and nothing says where`)
  }
  const found = placesOf(lines, old, from).filter((start) => !atEnd || start + old.length === lines.length)
  const [start] = found
  if (start === undefined) {
    throw new PatchProblem(
      `the lines of ${name} were not found${anchors.length > 0 ? ' below its `@@`' : ''}: \`${(old[0] ?? '').slice(0, 80)}\` …`,
    )
  }
  // an anchor says which of several places is meant: the first one below it
  if (found.length > 1 && anchors.length === 0) {
    throw new PatchProblem(`the lines of ${name} were found ${found.length} times (at lines ${numbers(found)})`)
  }
  return { start, end: start + old.length, lines: added }
}

function placesOf(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
  shape: (line: string) => string = (line) => line,
): number[] {
  const places: number[] = []
  for (let start = from; start + wanted.length <= lines.length; start += 1) {
    if (wanted.every((line, index) => shape(lines[start + index] ?? '') === shape(line))) places.push(start)
  }
  return places
}

function numbers(places: readonly number[]): string {
  const shown = places.slice(0, 10).map((place) => place + 1)
  return places.length > 10 ? `${shown.join(', ')}, …` : shown.join(', ')
}
