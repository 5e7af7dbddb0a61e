import type { Json, NextCall } from '../types.ts'

/** A call of an operation of the table. Each face shows it as a call of its own tools. */
export interface NextOperation {
  readonly operation: string
  readonly arguments: { readonly [name: string]: Json | undefined }
}

export interface ProblemOptions {
  /** One sentence: the fault. */
  readonly sentence: string
  /** The model's way to go on, as an imperative without a full stop. */
  readonly remedy: string
  /** Absent: the face puts an example of the called tool there. */
  readonly next?: NextOperation | NextCall | undefined
  /** `next` works on what the call has just seen: it is not rehearsed. */
  readonly isSeen?: boolean | undefined
  /** Shown below the sentences, such as the passage nearest to a text that was not found. */
  readonly details?: string | undefined
  readonly data?: { readonly [name: string]: Json | undefined } | undefined
}

/** Thrown inside the toolset for a call that is not carried out; it becomes an answer with `isError`. */
export class ToolProblem extends Error {
  readonly options: ProblemOptions

  constructor(options: ProblemOptions) {
    super(options.sentence)
    this.name = 'ToolProblem'
    this.options = options
  }
}

/** The outcome of an operation that was carried out. */
export interface Outcome {
  readonly text: string
  readonly data?: { readonly [name: string]: Json | undefined } | undefined
  readonly next?: NextOperation | NextCall | undefined
}
