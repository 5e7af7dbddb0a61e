/** The most likely name for a misspelt name: at most about a third of its letters differ. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const wanted = plain(given)
  return (
    nearest(wanted, names, plain) ??
    names.find((name) => wanted.length > 2 && (plain(name).includes(wanted) || wanted.includes(plain(name))))
  )
}

/** The most likely file name for a misspelt file name. Punctuation counts, case does not. */
export function nearestEntry(given: string, names: readonly string[]): string | undefined {
  const shape = (name: string): string => name.slice(0, 100).toLowerCase()
  return nearest(shape(given), names, shape)
}

function nearest(wanted: string, names: readonly string[], shape: (name: string) => string): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const name of names) {
    const candidate = shape(name)
    const limit = Math.ceil(Math.max(wanted.length, name.length) / 3)
    if (Math.abs(candidate.length - wanted.length) > Math.min(limit, best?.distance ?? limit)) continue
    const distance = editDistance(wanted, candidate)
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name, distance }
  }
  return best?.name
}

/** Drops case and punctuation, so that `filePath`, `file-path` and `file_path` become equal. */
function plain(name: string): string {
  return name
    .slice(0, 60)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/gu, '')
}

function editDistance(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1
      line.push(Math.min((above[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + cost))
    }
    above = line
  }
  return above[right.length] ?? 0
}
