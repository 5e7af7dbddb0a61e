import type { MatchKind } from '../types.ts'

export interface BlockRange {
  readonly start: number
  /** After the last LF, if the block ends in an LF and the source has that LF. */
  readonly end: number
  /** The block ends in a line end, but the source does not. */
  readonly lacksFinalLf: boolean
  /** For a match by `indent`: the blanks that replace the block's blanks. */
  readonly shift?: IndentShift | undefined
}

export interface IndentShift {
  readonly from: string
  readonly to: string
  readonly blanks: string
}

export interface Places {
  readonly match: MatchKind
  readonly places: readonly BlockRange[]
  /** True if the search stopped at {@link mostPlaces} or took too long, so that further places may exist. */
  readonly isMore: boolean
}

/** Limit of places. Further places are neither counted nor replaced. */
export const mostPlaces = 100_000
