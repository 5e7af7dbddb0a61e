/** The name that a misspelt one most likely means: about a third of its letters differ at most. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const wanted = plain(given)
  const same = names.find((name) => plain(name) === wanted)
  if (same !== undefined) return same
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const name of names) {
    const distance = editDistance(wanted, plain(name))
    const limit = Math.ceil(Math.max(wanted.length, name.length) / 3)
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name, distance }
  }
  return (
    best?.name ??
    names.find((name) => wanted.length > 2 && (plain(name).includes(wanted) || wanted.includes(plain(name))))
  )
}

/** Drops case and marks, so that `filePath`, `file-path` and `file_path` become equal. */
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
