import { foldName } from '../path/segments.ts'

// eslint-disable-next-line no-control-regex -- distinguishes ASCII from the rest
export const onlyAscii = /^[\u0000-\u007f]*$/

/** Folds characters that remain one character. `foldName` turns `ß` into `ss`, which `?` and `[…]` would not match. */
export function foldCharacters(text: string): string {
  if (onlyAscii.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text.normalize('NFC')) {
    const full = foldName(character)
    folded += isOne(full) ? full : character.toLowerCase()
  }
  return folded
}

/** Returns the upper case of a character if that is one character; else the character itself. */
export function upperCharacter(codePoint: number): number {
  const upper = String.fromCodePoint(codePoint).toUpperCase()
  return isOne(upper) ? (upper.codePointAt(0) ?? codePoint) : codePoint
}

function isOne(text: string): boolean {
  return text.length === ((text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1)
}
