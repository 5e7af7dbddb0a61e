import { diffArrays } from 'diff'

export interface LineChange {
  /** The first line, from 0. `to` is exclusive, and equals `from` for an insertion. */
  readonly from: number
  readonly to: number
  /** The new lines, each with its LF. */
  readonly text: string
}

export interface Block {
  readonly old: string
  /** The lines of `old`, each with its LF. */
  readonly lines: readonly string[]
  readonly changes: readonly LineChange[]
  readonly wholeLines: boolean
  /** True if neither `old` nor the new text ends in a line end. In `lines`, the last line has an LF nevertheless. */
  readonly isOpen: boolean
  readonly lineEnd: '\n' | '\r\n'
}

/** Above this number of different lines, only equal lines at both ends are kept. */
const mostDifferences = 500
const compareTimeout = 200

export function blockOf(old: string, text: string, lineEnd: Block['lineEnd']): Block {
  const isOpen = !old.endsWith('\n') && !text.endsWith('\n')
  const end = isOpen ? '\n' : ''
  const lines = splitLines(`${old}${end}`)
  return { old, lines, changes: changesOf(lines, splitLines(`${text}${end}`)), wholeLines: false, isOpen, lineEnd }
}

/** Each line keeps its LF. */
export const splitLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/gu) ?? []

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

/** Equal numbers of lines change one by one, so that each keeps its own line end. */
function lineByLine({ from, to, added }: { from: number; to: number; added: readonly string[] }): LineChange[] {
  if (added.length !== to - from) return [{ from, to, text: added.join('') }]
  return added.map((text, index) => ({ from: from + index, to: from + index + 1, text }))
}
