/** One replacement: `old` must be found once, or any number of times with `all`. Differences in line ends are ignored. */
export interface TextEdit {
  readonly old: string
  readonly new: string
  /** Replace every exact match. Default false. */
  readonly all?: boolean | undefined
}

/** From strict to loose. Each kind ignores more: line ends; trailing blanks; look-alike dashes, quotes and blanks; one common indent. */
export type MatchKind = 'exact' | 'trailing' | 'lookalike' | 'indent'

export interface Span {
  readonly start: number
  readonly end: number
  readonly bytes: Uint8Array
}

export interface Replacement {
  /** The line of its first change in the original content, from 1. */
  readonly line: number
  readonly match: MatchKind
}

export interface NearestPassage {
  readonly line: number
  readonly text: string
  readonly difference: string
}

export interface EditProblemDetails {
  readonly kind: 'empty' | 'unchanged' | 'missing' | 'several' | 'indent' | 'overlap' | 'encoding'
  /** The failed edit, from 0. */
  readonly edit: number
  /** A part of a sentence, printed after the name of the edit. */
  readonly reason: string
  readonly remedy: string
  readonly lines?: readonly number[] | undefined
  readonly count?: number | undefined
  readonly nearest?: NearestPassage | undefined
}

export class EditProblem extends Error {
  readonly details: EditProblemDetails

  constructor(details: EditProblemDetails) {
    super(`edit ${details.edit + 1} ${details.reason}; ${details.remedy}`)
    this.name = 'EditProblem'
    this.details = details
  }
}
