import type { MatchKind } from '../types.ts'

/** A place in the text of a source where a block matches. */
export interface Place {
  readonly start: number
  /** Behind the last LF, where the block ends in one and the source has it. */
  readonly end: number
  /** The block ends in a line end, and the source does not. */
  readonly lacksFinalLf: boolean
  /** For `indent`: the blanks that take the place of those in the block. */
  readonly shift?: IndentShift | undefined
}

export interface IndentShift {
  readonly from: string
  readonly to: string
  /** The blanks that the indents of the lines consist of. */
  readonly blanks: string
}

/** The places that one way finds. */
export interface Places {
  readonly match: MatchKind
  readonly places: readonly Place[]
  /** There may be more: {@link mostPlaces} were found, or the search became too long. */
  readonly isMore: boolean
}

/** More places than this are neither counted nor replaced. */
export const mostPlaces = 100_000
