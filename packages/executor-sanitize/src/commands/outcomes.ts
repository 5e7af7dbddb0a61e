import type { Outcome } from '../invocation/analysis-context.ts'
import type { State } from '../invocation/state.ts'

/** One after the other: the state of the second, and the output of either. */
export function both(left: Outcome, right: Outcome): Outcome {
  return { ...right, prints: left.prints || right.prints, hosts: left.hosts || right.hosts }
}

/** Any of them: their output together. */
export function gather(seen: readonly Outcome[], after: State | undefined): Outcome {
  return {
    success: after,
    failure: after,
    prints: seen.some(({ prints }) => prints),
    hosts: seen.some(({ hosts }) => hosts),
  }
}
