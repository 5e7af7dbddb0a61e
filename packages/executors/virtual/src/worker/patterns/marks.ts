// Lone low surrogates, which mark expanded text for the matcher. Scripts cannot contain them. Foreign bytes use another range.

export const marks = {
  begin: '\udf00',
  end: '\udf01',
  quote: '\udf02',
  unquote: '\udf03',
  replacement: '\udf04',
} as const

/** The uses of a pattern. A capital letter means the longest match. */
export const uses = {
  whole: 'w',
  prefix: 'p',
  longestPrefix: 'P',
  suffix: 's',
  longestSuffix: 'S',
  every: 'e',
  /** The first match. A preceding `#` or `%` anchors the match at the beginning or the end. */
  once: 'o',
  start: '^',
  end: '$',
  expression: 'r',
  /** Text that is kept for arithmetic: the pattern matches everything. */
  arithmetic: 'c',
} as const

export type Use = (typeof uses)[keyof typeof uses]

export interface Character {
  readonly text: string
  readonly quoted: boolean
}

export function charactersOf(text: string): Character[] {
  const characters: Character[] = []
  let quoted = false
  for (const character of text) {
    if (character === marks.quote) quoted = true
    else if (character === marks.unquote) quoted = false
    else characters.push({ text: character, quoted })
  }
  return characters
}
