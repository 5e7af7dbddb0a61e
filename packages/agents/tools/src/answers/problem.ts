import type { Json, NextCall, ToolAnswer } from '../types.ts'

export interface NextOperation {
  readonly operation: string
  readonly arguments: { readonly [name: string]: Json | undefined }
}

export interface ProblemOptions {
  readonly sentence: string
  readonly remedy: string
  /** If absent, the face shows an example of the called tool. */
  readonly next?: NextOperation | NextCall | undefined
  /** True if the call has just seen the entry that `next` uses. Such a `next` is proposed without a rehearsal. */
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
  readonly image?: ToolAnswer['image']
  readonly data?: { readonly [name: string]: Json | undefined } | undefined
  readonly next?: NextOperation | NextCall | undefined
}
