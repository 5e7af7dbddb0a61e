/** A content without the CR of its line ends, and the way back to its bytes. */
export interface LfView {
  readonly bytes: Buffer
  /** The offset in the content of an offset in the view. */
  toContent(offset: number): number
}

const cr = 13
const lf = 10

/** Content without CRLF is its own view, and is not copied. */
export function lfView(content: Buffer): LfView {
  const removed: number[] = []
  for (let at = content.indexOf('\r\n'); at !== -1; at = content.indexOf('\r\n', at + 2)) removed.push(at)
  if (removed.length === 0) return { bytes: content, toContent: (offset) => offset }
  const bytes = Buffer.allocUnsafe(content.length - removed.length)
  let from = 0
  let to = 0
  for (const at of removed) {
    to += content.copy(bytes, to, from, at)
    from = at + 1
  }
  content.copy(bytes, to, from)
  // the n-th CR that was removed stood before this offset of the view
  const positions = removed.map((at, index) => at - index)
  return {
    bytes,
    toContent(offset) {
      let low = 0
      let high = positions.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((positions[middle] ?? 0) < offset) low = middle + 1
        else high = middle
      }
      return offset + low
    },
  }
}

/** The line ends of a text as LF. */
export const toLf = (text: string): string => text.replaceAll('\r\n', '\n')

/** The line end at or behind an offset, else the one before it; `undefined` for content of one line. */
export function lineEndNear(content: Buffer, offset: number): '\n' | '\r\n' | undefined {
  const behind = content.indexOf(lf, offset)
  const at = behind === -1 ? content.lastIndexOf(lf, Math.max(offset - 1, 0)) : behind
  if (at === -1) return undefined
  return content[at - 1] === cr ? '\r\n' : '\n'
}
