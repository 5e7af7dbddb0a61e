/** Lines without their ends. A final line end begins no further line; an empty text has no lines [PC25]. */
export function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}

export function byteLength(text: string): number {
  return Buffer.byteLength(text)
}
