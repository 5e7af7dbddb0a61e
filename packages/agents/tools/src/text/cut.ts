export const headCharacters = 10 * 1024
export const tailCharacters = 30 * 1024

/** Cuts a text to 40 KiB: head and tail, whole lines where possible, with a notice in the gap. */
export function headAndTail(text: string, shown: (part: string) => string = (part) => part): string {
  if (text.length <= headCharacters + tailCharacters) return shown(text)
  const front = wholeLines(text.slice(0, headCharacters), 'front')
  const back = wholeLines(text.slice(-tailCharacters), 'back')
  const left = text.length - front.length - back.length
  return `${shown(front)}\n[… ${left} characters left out …]\n${shown(back)}`
}

function wholeLines(text: string, side: 'front' | 'back'): string {
  if (side === 'front') {
    const end = text.lastIndexOf('\n')
    return end > text.length / 2 ? text.slice(0, end) : text.toWellFormed()
  }
  const start = text.indexOf('\n')
  return start >= 0 && start < text.length / 2 ? text.slice(start + 1) : text.toWellFormed()
}
