import type { Json, NextCall } from '../types.ts'

export interface NextOperation {
  readonly operation: string
  readonly arguments: { readonly [name: string]: Json | undefined }
}

export interface ProblemOptions {
  readonly sentence: string
  readonly remedy: string
  /** Absent: the face shows an example of the called tool. */
  readonly next?: NextOperation | NextCall | undefined
  /** `next` uses an entry that the call has just seen, so `next` is not tried out first. */
  readonly isSeen?: boolean | undefined
  readonly details?: string | undefined
  readonly data?: { readonly [name: string]: Json | undefined } | undefined
}

/** Thrown inside the toolset for a call that is not carried out. The error becomes an answer with `isError`. */
export class ToolProblem extends Error {
  readonly options: ProblemOptions

  constructor(options: ProblemOptions) {
    super(options.sentence)
    this.name = 'ToolProblem'
    this.options = options
  }
}

export interface Outcome {
  readonly text: string
  readonly data?: { readonly [name: string]: Json | undefined } | undefined
  readonly next?: NextOperation | NextCall | undefined
}
