import type { Contender, OperationName, Operations } from '../contenders/contender.ts'
import type { Comparison, Way } from '../measure.ts'

export interface Case extends Omit<Comparison, 'reference' | 'ways'> {
  readonly operation: OperationName
  readonly work: (operations: Required<Operations>, name: string) => Way['run']
  /** The contender to compare with, where that is not the plain call. */
  readonly reference?: Contender
  /** Untimed, once: the rounds that it is good for. */
  readonly prepare?: (names: readonly string[]) => Promise<number>
  /** Untimed, before each run of a way: makes the entries that the run uses up. */
  readonly before?: (name: string, count: number) => void
}
