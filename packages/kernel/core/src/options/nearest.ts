/** Returns the known name that the caller probably meant: with a similar start, or at most two edits away. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  if (given.length > 64) return undefined
  const wanted = given.toLowerCase()
  let nearest: string | undefined
  let least = Math.min(3, Math.ceil(given.length / 3) + 1)
  for (const name of known) {
    const lower = name.toLowerCase()
    const begins = wanted.length > 3 && lower.length > 3 && (lower.startsWith(wanted) || wanted.startsWith(lower))
    const distance = begins ? Math.min(2, distanceBetween(wanted, lower)) : distanceBetween(wanted, lower)
    if (distance < least) [nearest, least] = [name, distance]
  }
  return nearest
}

/** Returns the number of letters to add, drop, replace or swap with their neighbour. */
function distanceBetween(one: string, other: string): number {
  let before: number[] = []
  let previous = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1]
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      )
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1)
      current.push(cost)
    }
    before = previous
    previous = current
  }
  return previous[other.length] ?? one.length
}
