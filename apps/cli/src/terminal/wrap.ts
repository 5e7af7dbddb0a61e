import { stripVTControlCharacters } from 'node:util'

import { escapeText } from './escape.ts'

/** Breaks a text at spaces into lines of at most `width` characters, without counting colours. Longer words stay whole. */
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

/** Prints a message on one line, or wrapped on a terminal. Use `nameOn` for names in the message. */
export function complainTo(stream: NodeJS.WriteStream, text: string): void {
  const message = `ws: ${stream.isTTY ? escapeText(text) : text}`
  stream.write(`${stream.isTTY ? wrapWords(message, screenWidth(stream), '    ') : message}\n`)
}

const narrowest = 40
const usual = 80

/** The terminal's columns, at least 40; 80 without a terminal. */
export function screenWidth({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY && columns > 0 ? Math.max(narrowest, columns) : usual
}
