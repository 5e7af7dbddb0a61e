import type { DoubleQuotedChild, Word, WordPart } from 'unbash'

/** A part of a word: literal text, or a part whose value only the running shell knows. */
export type Piece =
  | { readonly kind: 'text'; readonly value: string; readonly quoted: boolean }
  | { readonly kind: 'glob'; readonly value: string }
  | { readonly kind: 'brace'; readonly value: string; readonly part: WordPart }
  | { readonly kind: 'expansion'; readonly part: WordPart; readonly quoted: boolean }

export function piecesOf(word: Word): readonly Piece[] {
  if (word.parts === undefined) return [{ kind: 'text', value: word.value, quoted: word.text !== word.value }]
  return word.parts.flatMap((part) => pieceOf(part))
}

function pieceOf(part: WordPart): Piece[] {
  switch (part.type) {
    case 'Literal':
      return [{ kind: 'text', value: part.value, quoted: part.text !== part.value }]
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ kind: 'text', value: part.value, quoted: true }]
    case 'DoubleQuoted':
    case 'LocaleString':
      // Keeps an empty string, because `""` is a word.
      return part.parts.length === 0 ? [{ kind: 'text', value: '', quoted: true }] : part.parts.map(insideQuotes)
    case 'Glob':
      return [{ kind: 'glob', value: part.text }]
    case 'ExtendedGlob':
      return [{ kind: 'glob', value: part.text }]
    case 'BraceExpansion':
      return [{ kind: 'brace', value: part.text, part }]
    default:
      return [{ kind: 'expansion', part, quoted: false }]
  }
}

function insideQuotes(part: DoubleQuotedChild): Piece {
  if (part.type === 'Literal') return { kind: 'text', value: part.value, quoted: true }
  return { kind: 'expansion', part, quoted: true }
}

/** Returns whether a word begins with a tilde, which the shell replaces by a home directory. */
export function startsWithTilde(word: Word): boolean {
  return word.text.startsWith('~')
}

/** Returns the text of a word after the shell's expansion; `undefined` if the text depends on more than the word. */
export function staticText(word: Word): string | undefined {
  if (startsWithTilde(word)) return undefined
  let text = ''
  for (const piece of piecesOf(word)) {
    if (piece.kind !== 'text') return undefined
    text += piece.value
  }
  return text
}
