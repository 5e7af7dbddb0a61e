export interface Piece {
  readonly text: string
  /** True where no character of it is special. */
  readonly quoted: boolean
  /** True where IFS splits it: it comes from an expansion without quotes. */
  readonly split?: boolean
}

/** The end of one value of a list, such as `"$@"`. */
export const boundary = Symbol('boundary')

export type Field = readonly Piece[]

/**
 * The fields of one word.
 *
 * @param splits true where the word has an expansion that may be split: then characters of IFS are quoted in its other text
 */
export function fieldsOf(pieces: readonly (Piece | typeof boundary)[], ifs: string, splits: boolean): Field[] {
  const fields: Field[] = []
  let field: Piece[] | undefined
  /** True after a field that a blank has ended: a separator after it ends the same field. */
  let ended = false
  const add = (piece: Piece) => (field ??= []).push(piece)
  const end = (separator: string) => {
    const isBlank = /^[ \t\n]?$/.test(separator)
    if (field !== undefined || (!isBlank && !ended)) fields.push(field ?? [])
    ended = isBlank && (field !== undefined || ended)
    field = undefined
  }
  for (const piece of pieces) {
    if (piece === boundary) end('')
    else if (piece.quoted) add(piece)
    else if (piece.split !== true || ifs === '') {
      if (splits) for (const text of piece.text) add({ text, quoted: ifs.includes(text) })
      else if (piece.text !== '') add(piece)
    } else {
      let text = ''
      for (const character of piece.text) {
        if (!ifs.includes(character)) text += character
        else {
          if (text !== '') add({ ...piece, text })
          text = ''
          end(character)
        }
      }
      if (text !== '') add({ ...piece, text })
    }
  }
  if (field !== undefined) fields.push(field)
  return fields
}
