import type { Try, VirtualPath } from '@ws/core'

import type { ToolAnswer } from '../types.ts'

/** A call that has run. Its changes are in place, and do not count before the decision. Nothing else may change files meanwhile. */
export interface ApprovalRequest extends Pick<Try<ToolAnswer>, 'changes' | 'leftOut' | 'connections' | 'diff'> {
  readonly tool: string
  /** The arguments as the model gave them. */
  readonly input: unknown
  /** The number of the call, as in the journal. */
  readonly call: number
  /** The answer that the model gets if all changes are kept. */
  readonly answer: ToolAnswer
  /** Files and hosts that a rule refused which asks. `grant` allows them. Empty for a call that needs no grant. */
  readonly asked: readonly AskedAccess[]
  /** Aborted when the call is aborted, the toolset is closed, or the time to decide is over. */
  readonly signal: AbortSignal
}

/** A refusal by a rule that asks: of a path, or of a host. */
export interface AskedAccess {
  readonly rule: string
  readonly path?: VirtualPath | undefined
  readonly host?: string | undefined
  /** Absent if the name of the host was only looked up. */
  readonly port?: number | undefined
}

/** A decision about a call. An answer of another shape is a drop, and the model is told so. */
export interface Approval {
  /** `keep` accepts the changes. `drop` takes all of them back, and the answer to the model is an error that says so. */
  readonly decision: 'keep' | 'drop'
  /** Keep only these paths with everything below them, and take back the others. A path without a change is a drop. Default: all. */
  readonly paths?: readonly string[] | undefined
  /**
   * Takes the changes back, and runs the call again with all that is in `asked`, for this one call. The effects of the new run make a
   * new request. Only for `keep`, and without `paths`. Ignored where nothing was asked. Default false.
   */
  readonly grant?: boolean | undefined
  /** Words for the model. */
  readonly message?: string | undefined
}
