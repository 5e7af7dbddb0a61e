import type { TextEdit } from '../../src/edit/types.ts'

/** A part of a content: text, bytes in hexadecimal digits, or a text many times. */
type Part = string | { readonly hex: string } | { readonly repeat: string; readonly times: number }

export type CorpusContent = string | readonly Part[]

/** One row of the corpus: a file, a change, and its expected end. */
export interface CorpusRow {
  readonly name: string
  /** The file before; `null` where there is none. */
  readonly file: CorpusContent | null
  readonly edits?: readonly TextEdit[] | undefined
  /** Instead of `edits`: the diff of the file in the V4A form. */
  readonly patch?: string | undefined
  /** The bytes after. Absent where the change must be refused, and the file must stay as it is. */
  readonly expect?: CorpusContent | undefined
  /** A regular expression that the refusal matches. */
  readonly refusal?: string | undefined
  /** Other contents that the comparison counts as right too: tools may differ there for good reasons. */
  readonly also?: readonly CorpusContent[] | undefined
}

export function bytesOf(content: CorpusContent): Buffer {
  if (typeof content === 'string') return Buffer.from(content)
  return Buffer.concat(
    content.map((part) => {
      if (typeof part === 'string') return Buffer.from(part)
      return 'hex' in part ? Buffer.from(part.hex, 'hex') : Buffer.from(part.repeat.repeat(part.times))
    }),
  )
}
