/** Characters of a long list or output that are shown of its head and tail [FS8]. */
export const headCharacters = 10 * 1024
export const tailCharacters = 30 * 1024

/** A text of at most 40 KiB: the head and the tail, whole lines where that is possible, with a notice between them. */
export function headAndTail(text: string, head = headCharacters, tail = tailCharacters): string {
  if (text.length <= head + tail) return text
  const front = wholeLines(text.slice(0, head), 'front')
  const back = wholeLines(text.slice(-tail), 'back')
  const left = text.length - front.length - back.length
  return `${front}\n[… ${left} characters left out …]\n${back}`
}

function wholeLines(text: string, side: 'front' | 'back'): string {
  if (side === 'front') {
    const end = text.lastIndexOf('\n')
    return end > text.length / 2 ? text.slice(0, end) : text.toWellFormed()
  }
  const start = text.indexOf('\n')
  return start >= 0 && start < text.length / 2 ? text.slice(start + 1) : text.toWellFormed()
}
