/** Differing lines of both files, from 0, `end` exclusive. Lines between changes are equal. */
export interface Change {
  readonly a: { readonly start: number; readonly end: number }
  readonly b: { readonly start: number; readonly end: number }
}

/** Limit of differing lines in both files together. Beyond this limit, GNU's `diff` guesses. */
const mostLines = 4000
const mostCells = 4_000_000
/** Among lines without a match, GNU's `diff` may skip lines that occur more often than this. */
const often = 5

/**
 * GNU's changes between two files; `undefined` where several shortest differences exist.
 * A block that could move up or down is placed as low as possible.
 */
export function changesOf(left: readonly string[], right: readonly string[]): readonly Change[] | undefined {
  const [a, b] = numbered(left, right)
  let prefix = 0
  while (prefix < a.length && prefix < b.length && a[prefix] === b[prefix]) prefix++
  let suffix = 0
  const shorter = Math.min(a.length, b.length) - prefix
  while (suffix < shorter && a.at(-1 - suffix) === b.at(-1 - suffix)) suffix++
  const ends = { a: a.length - suffix, b: b.length - suffix }
  const [height, width] = [ends.a - prefix, ends.b - prefix]
  if (height === 0 && width === 0) return []
  if (height === 0 || width === 0) return [{ a: { start: prefix, end: ends.a }, b: { start: prefix, end: ends.b } }]
  if (height + width > mostLines || (height + 1) * (width + 1) > mostCells) return undefined
  const middle = { a: a.slice(prefix, ends.a), b: b.slice(prefix, ends.b) }
  const { matches, pairs } = align(middle.a, middle.b)
  if (passesOver(middle.a, middle.b, b, new Set(matches.map(([line]) => line)))) return undefined
  if (passesOver(middle.b, middle.a, a, new Set(matches.map(([, line]) => line)))) return undefined
  const lowered = lower(changesBetween(matches, height, width), middle.a, middle.b, [a[ends.a], b[ends.b]])
  if (lowered === undefined || pairs !== matches.length + lowered.steps) return undefined
  const moved = (range: Change['a']) => ({ start: range.start + prefix, end: range.end + prefix })
  return lowered.changes.map((change) => ({ a: moved(change.a), b: moved(change.b) }))
}

function numbered(left: readonly string[], right: readonly string[]): [number[], number[]] {
  const numbers = new Map<string, number>()
  const numberOf = (line: string): number => {
    const known = numbers.get(line)
    if (known !== undefined) return known
    numbers.set(line, numbers.size)
    return numbers.size - 1
  }
  return [left.map(numberOf), right.map(numberOf)]
}

/** One longest common subsequence, and the number of line pairs that occur in any longest common subsequence. */
function align(
  a: readonly number[],
  b: readonly number[],
): { readonly matches: readonly (readonly [number, number])[]; readonly pairs: number } {
  const step = b.length + 1
  /** Lengths of longest common subsequences: of the lines after each pair of places, and of the lines before. */
  const after = new Uint16Array((a.length + 1) * step)
  const before = new Uint16Array((a.length + 1) * step)
  const at = (table: Uint16Array, row: number, column: number): number => table[row * step + column] ?? 0
  for (let row = a.length - 1; row >= 0; row--)
    for (let column = b.length - 1; column >= 0; column--)
      after[row * step + column] =
        a[row] === b[column]
          ? at(after, row + 1, column + 1) + 1
          : Math.max(at(after, row + 1, column), at(after, row, column + 1))
  for (let row = 1; row <= a.length; row++)
    for (let column = 1; column <= b.length; column++)
      before[row * step + column] =
        a[row - 1] === b[column - 1]
          ? at(before, row - 1, column - 1) + 1
          : Math.max(at(before, row - 1, column), at(before, row, column - 1))
  const longest = at(after, 0, 0)
  let pairs = 0
  for (let row = 0; row < a.length; row++)
    for (let column = 0; column < b.length; column++)
      if (a[row] === b[column] && at(before, row, column) + 1 + at(after, row + 1, column + 1) === longest) pairs++
  const matches: [number, number][] = []
  for (let row = 0, column = 0; row < a.length && column < b.length; ) {
    if (a[row] === b[column]) matches.push([row++, column++])
    else if (at(after, row + 1, column) >= at(after, row, column + 1)) row++
    else column++
  }
  return { matches, pairs }
}

/** True where GNU's `diff` may skip a line with a match: a frequent line among lines without a match. */
function passesOver(
  own: readonly number[],
  other: readonly number[],
  whole: readonly number[],
  matched: ReadonlySet<number>,
): boolean {
  const counts = new Map<number, number>()
  for (const line of whole) counts.set(line, (counts.get(line) ?? 0) + 1)
  const there = new Set(other)
  let afterNowhere = false
  let risky = false
  for (const [index, line] of own.entries()) {
    if (!there.has(line)) {
      if (risky) return true
      afterNowhere = true
    } else if ((counts.get(line) ?? 0) > often) {
      risky ||= afterNowhere && matched.has(index)
    } else [afterNowhere, risky] = [false, false]
  }
  return false
}

function changesBetween(matches: readonly (readonly [number, number])[], height: number, width: number): Change[] {
  const changes: Change[] = []
  let [row, column] = [0, 0]
  for (const [nextRow, nextColumn] of [...matches, [height, width] as const]) {
    if (nextRow > row || nextColumn > column)
      changes.push({ a: { start: row, end: nextRow }, b: { start: column, end: nextColumn } })
    ;[row, column] = [nextRow + 1, nextColumn + 1]
  }
  return changes
}

/**
 * Moves each one-sided block as low as possible. @param below the first lines after the compared lines
 * @returns `undefined` where blocks may touch; `steps`: the sum of all possible moves, in lines
 */
function lower(
  changes: readonly Change[],
  a: readonly number[],
  b: readonly number[],
  below: readonly (number | undefined)[],
): { readonly changes: readonly Change[]; readonly steps: number } | undefined {
  let steps = 0
  const moved: Change[] = []
  for (const [index, change] of changes.entries()) {
    const inA = change.b.start === change.b.end
    if (!inA && change.a.start !== change.a.end) {
      moved.push(change)
      continue
    }
    const [lines, { start, end }, next] = inA ? [a, change.a, below[0]] : [b, change.b, below[1]]
    const previous = changes[index - 1]
    const following = changes[index + 1]
    const least = (inA ? previous?.a.end : previous?.b.end) ?? 0
    const most = (inA ? following?.a.start : following?.b.start) ?? lines.length
    let up = 0
    while (start - up > least && lines[start - up - 1] === lines[end - up - 1]) up++
    let down = 0
    while (end + down < most && lines[start + down] === lines[end + down]) down++
    if (previous !== undefined && up > 0 && start - up === least) return undefined
    if (following !== undefined && down > 0 && end + down === most) return undefined
    if (following === undefined && end + down === lines.length && lines[start + down] === next) return undefined
    steps += up + down
    const by = (range: Change['a']) => ({ start: range.start + down, end: range.end + down })
    moved.push({ a: by(change.a), b: by(change.b) })
  }
  return { changes: moved, steps }
}
