import type { Plan, Step } from './schema.ts'

/** A checked step: paths resolved, `needs` with the writers of its inputs. Plain JSON, so that any engine can carry it. */
export interface CheckedStep extends Step {
  /** From the workspace's root; `""` is the root. */
  readonly inputs: string[]
  /** From the output's root; `""` is the root. */
  readonly outputs: string[]
}

export interface CheckedPlan extends Plan {
  readonly steps: CheckedStep[]
}
