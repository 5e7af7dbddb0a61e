import type { Plan, Step } from './schema.ts'

export interface CheckedStep extends Step {
  /** Paths from the workspace's root; `""` is the root. */
  readonly inputs: string[]
  /** Paths from the output's root; `""` is the root. */
  readonly outputs: string[]
}

export interface CheckedPlan extends Plan {
  readonly steps: CheckedStep[]
}
