import { stripVTControlCharacters } from 'node:util'

import { escapeText } from './escape.ts'

/** A text in lines of at most `width` characters, colours not counted, broken at spaces. A longer word stays whole. */
export function wrapWords(text: string, width: number, indent = ''): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && stripVTControlCharacters(longer).length > width) {
      lines.push(line)
      line = indent + word
    } else line = longer
  }
  return [...lines, line].join('\n')
}

/** Writes a message to standard error: one line, or wrapped on a terminal. Names in it are escaped by `nameOn`. */
export function complainTo(stream: NodeJS.WriteStream, text: string): void {
  const message = `ws: ${stream.isTTY ? escapeText(text) : text}`
  stream.write(`${stream.isTTY ? wrapWords(message, screenWidth(stream), '    ') : message}\n`)
}

const narrowest = 40
const usual = 80

/** Columns to write in: those of the terminal, but at least 40; 80 where the stream is not a terminal. */
export function screenWidth({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY && columns > 0 ? Math.max(narrowest, columns) : usual
}
