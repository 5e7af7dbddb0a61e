/** One replacement: `old` must be found at one place, or at each with `all`. Text, whose line ends do not count. */
export interface TextEdit {
  readonly old: string
  readonly new: string
  /** Replace every place. They must match exactly. Default false. */
  readonly all?: boolean | undefined
}

/**
 * The four safe ways to find a text, from the strictest: byte by byte but for line ends; but for blanks at the ends of
 * lines; but for dashes, quotes and blanks that look alike; but for one indent that all lines have more or less.
 */
export type MatchKind = 'exact' | 'trailing' | 'lookalike' | 'indent'

/** A part of the content, in bytes, and the bytes that come there. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly bytes: Uint8Array
}

/** A replacement that was made. */
export interface Replacement {
  /** The line of its first change in the content as it was, from 1. */
  readonly line: number
  readonly match: MatchKind
}

/** The passage that is most like a text that was not found. */
export interface NearestPassage {
  /** Its first line, from 1. */
  readonly line: number
  readonly text: string
  /** Its first differences, as clauses of one sentence. */
  readonly difference: string
}

export interface EditProblemDetails {
  readonly kind: 'empty' | 'unchanged' | 'missing' | 'several' | 'indent' | 'overlap' | 'encoding'
  /** The edit at fault, from 0. */
  readonly edit: number
  /** To follow the edit's name in a sentence. */
  readonly reason: string
  readonly remedy: string
  /** Lines at which it was found, from 1; at most the first 10. */
  readonly lines?: readonly number[] | undefined
  /** How often it was found. */
  readonly count?: number | undefined
  readonly nearest?: NearestPassage | undefined
}

/** An edit that cannot be made. Nothing was changed. */
export class EditProblem extends Error {
  readonly details: EditProblemDetails

  constructor(details: EditProblemDetails) {
    super(`edit ${details.edit + 1} ${details.reason}; ${details.remedy}`)
    this.name = 'EditProblem'
    this.details = details
  }
}
