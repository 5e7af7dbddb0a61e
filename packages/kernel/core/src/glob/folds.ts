import { foldName } from '../path/segments.ts'

// eslint-disable-next-line no-control-regex -- distinguishes ASCII from the rest
export const onlyAscii = /^[\u0000-\u007f]*$/

/** Folds characters that stay one character: `foldName` makes `ss` of `ß`, which `?` and `[…]` would not match. */
export function foldCharacters(text: string): string {
  if (onlyAscii.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text.normalize('NFC')) {
    const full = foldName(character)
    folded += isOne(full) ? full : character.toLowerCase()
  }
  return folded
}

/** The upper case of a character, if that is one character too; else the character. */
export function upperCharacter(codePoint: number): number {
  const upper = String.fromCodePoint(codePoint).toUpperCase()
  return isOne(upper) ? (upper.codePointAt(0) ?? codePoint) : codePoint
}

function isOne(text: string): boolean {
  return text.length === ((text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1)
}
