// Text that just-bash has expanded comes to the matcher with these marks. They are low surrogates that stand alone, which no
// text of a script holds: bytes that are not UTF-8 lie in another range.

export const marks = {
  begin: '\udf00',
  end: '\udf01',
  quote: '\udf02',
  unquote: '\udf03',
  replacement: '\udf04',
} as const

/** The uses of a pattern. A capital letter asks for the longest part. */
export const uses = {
  whole: 'w',
  prefix: 'p',
  longestPrefix: 'P',
  suffix: 's',
  longestSuffix: 'S',
  every: 'e',
  /** The first part that is found; a `#` or `%` before it stands for the beginning or the end. */
  once: 'o',
  start: '^',
  end: '$',
  expression: 'r',
  /** Text for arithmetic, which finds everything. */
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
