import { diffArrays } from 'diff'

/** Lines of a block that others take the place of. */
export interface LineChange {
  /** The first line, counted from 0. `to` is the line after the last, and equals `from` for an insertion. */
  readonly from: number
  readonly to: number
  /** The new lines, each with its LF. */
  readonly text: string
}

/** A text to find, and the lines of it that change. All others keep their own bytes. */
export interface Block {
  /** With LF. */
  readonly old: string
  /** The lines of `old`, each with its LF. */
  readonly lines: readonly string[]
  readonly changes: readonly LineChange[]
  /** It matches whole lines only. Otherwise it may begin and end inside of lines. */
  readonly wholeLines: boolean
  /** Neither the old nor the new text ends in a line end. Only `lines` has an LF after the last line. */
  readonly isOpen: boolean
  /** The end of new lines in content that has no line end. */
  readonly lineEnd: '\n' | '\r\n'
}

/** Differences between the lines of two texts; with more of them only the lines at both ends stay. */
const mostDifferences = 500
/** Milliseconds to compare them. */
const compareTimeout = 200

/** The block of an edit, from texts with LF. Lines that both texts have stay. */
export function blockOf(old: string, text: string, lineEnd: Block['lineEnd']): Block {
  const isOpen = !old.endsWith('\n') && !text.endsWith('\n')
  const end = isOpen ? '\n' : ''
  const lines = splitLines(`${old}${end}`)
  return { old, lines, changes: changesOf(lines, splitLines(`${text}${end}`)), wholeLines: false, isOpen, lineEnd }
}

/** The lines of a text, each with its LF. */
export const splitLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/gu) ?? []

/** The changes between two lists of lines. */
export function changesOf(old: readonly string[], next: readonly string[]): LineChange[] {
  const most = Math.min(old.length, next.length)
  let head = 0
  while (head < most && old[head] === next[head]) head += 1
  let tail = 0
  while (tail < most - head && old[old.length - 1 - tail] === next[next.length - 1 - tail]) tail += 1
  const left = old.slice(head, old.length - tail)
  const right = next.slice(head, next.length - tail)
  if (left.length === 0 && right.length === 0) return []
  const parts =
    left.length > 1 && right.length > 1
      ? diffArrays(left, right, { maxEditLength: mostDifferences, timeout: compareTimeout })
      : undefined
  const changes: { from: number; to: number; added: string[] }[] = []
  let at = head
  if (parts === undefined) changes.push({ from: head, to: head + left.length, added: right })
  for (const { added, removed, value } of parts ?? []) {
    if (!added && !removed) {
      at += value.length
      continue
    }
    let change = changes.at(-1)
    if (change?.to !== at) {
      change = { from: at, to: at, added: [] }
      changes.push(change)
    }
    if (added) change.added.push(...value)
    else {
      at += value.length
      change.to = at
    }
  }
  return changes.flatMap(lineByLine)
}

/** As many lines as before change one by one, so that each keeps its own line end. */
function lineByLine({ from, to, added }: { from: number; to: number; added: readonly string[] }): LineChange[] {
  if (added.length !== to - from) return [{ from, to, text: added.join('') }]
  return added.map((text, index) => ({ from: from + index, to: from + index + 1, text }))
}
