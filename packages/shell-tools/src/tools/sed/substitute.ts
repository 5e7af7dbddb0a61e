import type { Piece } from './script.ts'

export interface Substitution {
  readonly pieces: readonly Piece[]
  readonly all: boolean
  /** The number of the first match to replace, from 1. */
  readonly number: number
}

/** @returns undefined without a replacement */
export function substitute(space: string, used: RegExp, { pieces, all, number }: Substitution): string | undefined {
  let count = 0
  let done = ''
  let place = 0
  let changed = false
  let before = -1
  for (const match of space.matchAll(used)) {
    // An empty match right after another match does not count.
    if (match[0] === '' && match.index === before) continue
    before = match.index + match[0].length
    count++
    if (count < number || (count > number && !all)) continue
    done += space.slice(place, match.index) + replacement(pieces, match)
    place = before
    changed = true
  }
  return changed ? done + space.slice(place) : undefined
}

function replacement(pieces: readonly Piece[], match: RegExpMatchArray): string {
  let text = ''
  let whole: 'U' | 'L' | undefined
  let next: 'u' | 'l' | undefined
  for (const piece of pieces) {
    if (typeof piece === 'object') {
      if (piece.fold === 'E') whole = undefined
      else if (piece.fold === 'U' || piece.fold === 'L') whole = piece.fold
      else next = piece.fold
      continue
    }
    let part = typeof piece === 'string' ? piece : (match[piece] ?? '')
    if (whole === 'U') part = part.toUpperCase()
    else if (whole === 'L') part = part.toLowerCase()
    if (next !== undefined && part !== '') {
      const [first = '', ...rest] = part
      part = (next === 'u' ? first.toUpperCase() : first.toLowerCase()) + rest.join('')
      next = undefined
    }
    text += part
  }
  return text
}
