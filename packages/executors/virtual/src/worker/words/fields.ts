export interface Piece {
  readonly text: string
  readonly quoted: boolean
  /** True for an unquoted expansion, which IFS splits. */
  readonly split?: boolean
}

/** Marks the end of one value in a list, such as `"$@"`. */
export const boundary = Symbol('boundary')

export type Field = readonly Piece[]

/** @param splits true if the word has an expansion to split: IFS characters in the word's other text then count as quoted */
export function fieldsOf(pieces: readonly (Piece | typeof boundary)[], ifs: string, splits: boolean): Field[] {
  const fields: Field[] = []
  let field: Piece[] | undefined
  /** True if a blank has ended a field: a separator after that blank ends the same field. */
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
