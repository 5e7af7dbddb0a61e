import { notTextError } from './text.ts'

export interface LineWindow {
  readonly lines: readonly string[]
  readonly offset: number
  readonly nextOffset?: number | undefined
}

/**
 * Reads a window of lines out of a stream, holding no more than the window. A line ends with LF or CRLF; the last one
 * needs no end, and an end at the end of the file begins no further line, so an empty file has no lines.
 */
export async function readWindow(
  stream: AsyncIterable<Uint8Array>,
  { offset, limit, path }: { offset: number; limit: number; path: string },
): Promise<LineWindow> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const lines: string[] = []
  let count = 0
  let rest = ''
  const take = (line: string): void => {
    if (count >= offset && lines.length < limit) lines.push(line.endsWith('\r') ? line.slice(0, -1) : line)
    count += 1
  }
  try {
    for await (const chunk of stream) {
      let text = decoder.decode(chunk, { stream: true })
      let newline = text.indexOf('\n')
      if (newline === -1) {
        rest += text
        continue
      }
      text = rest + text
      rest = ''
      let start = 0
      for (newline = text.indexOf('\n'); newline !== -1; newline = text.indexOf('\n', start)) {
        take(text.slice(start, newline))
        start = newline + 1
        if (count > offset + limit) return { lines, offset, nextOffset: offset + limit }
      }
      // Flat text, not a slice that holds on to the whole chunk while lines before the window are skipped.
      rest = text.slice(start)
    }
    rest += decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) throw notTextError(path)
    throw error
  }
  if (rest !== '') take(rest)
  if (count > offset + limit) return { lines, offset, nextOffset: offset + limit }
  return { lines, offset: Math.min(offset, count) }
}
