import type { PdfRequest } from './worker/protocol.ts'

interface Range extends Pick<PdfRequest, 'first' | 'last' | 'maxPages'> {
  readonly pageCount: number
  readonly lastRead: number
}

export function noteRange({ first, last, maxPages, pageCount, lastRead }: Range): string[] {
  if (first > pageCount) {
    return [
      `${pageNames(first, last ?? first)} ${beyond(last ?? first, first)} the end: the document has ${count(pageCount)}`,
    ]
  }
  const notes = []
  if (last !== undefined && last > pageCount) {
    notes.push(
      `${pageNames(pageCount + 1, last)} ${beyond(last, pageCount + 1)} the end: the document has ${count(pageCount)}`,
    )
  }
  const end = first + maxPages - 1
  const asked = Math.min(last ?? pageCount, pageCount)
  if (asked > end && lastRead === end)
    notes.push(`at most ${count(maxPages)} are read at once; continue with pages from ${end + 1}`)
  return notes
}

export function noteEmptyPages(empty: readonly number[], broken: readonly number[]): string[] {
  const notes = []
  if (broken.length > 0) notes.push(`${listPages(broken)} cannot be read`)
  if (empty.length === 1) notes.push(`${listPages(empty)} has no text; it may be scanned`)
  if (empty.length > 1) notes.push(`${listPages(empty)} have no text; they may be scanned`)
  return notes
}

const beyond = (last: number, first: number) => (last > first ? 'are beyond' : 'is beyond')
const count = (pages: number) => (pages === 1 ? '1 page' : `${pages} pages`)
const pageNames = (first: number, last: number) => (last > first ? `pages ${first}–${last}` : `page ${first}`)

const longestList = 10

function listPages(numbers: readonly number[]): string {
  const runs: [number, number][] = []
  for (const number of numbers) {
    const run = runs.at(-1)
    if (run !== undefined && run[1] === number - 1) run[1] = number
    else runs.push([number, number])
  }
  const shown = runs.slice(0, longestList).map(([first, last]) => (last > first ? `${first}–${last}` : `${first}`))
  const more = runs.length > longestList ? ' and others' : ''
  return `${numbers.length === 1 ? 'page' : 'pages'} ${shown.join(', ')}${more}`
}
