import type { CheckpointEngine, Rule, Workspace } from '@ws/core'

import type { ExecutorName } from './config/executors.ts'
import type { MountSettings } from './config/mounts.ts'
import type { Settings } from './config/settings.ts'
import type { ErrorReport } from './errors.ts'
import type { Output } from './terminal/output.ts'
import type { Style } from './terminal/style.ts'

export interface CommandContext {
  readonly settings: Settings
  readonly output: Output
  readonly style: Style
  readonly signal: AbortSignal
  /**
   * Opens the workspace; the caller closes it. `executors: true` uses the executors of the settings. With `readOnly`, nothing will change.
   * `rules` and `mounts` are added to the rules and mounts of the settings.
   */
  open(options?: {
    readonly executors?: boolean | readonly ExecutorName[]
    readonly readOnly?: boolean
    readonly checkpoints?: CheckpointEngine
    readonly rules?: readonly Rule[]
    readonly mounts?: readonly MountSettings[]
  }): Promise<Workspace>
  /** Reports an error on standard error. The command continues. */
  complain(error: unknown): ErrorReport
}

/** Registers the work of a command. The action of the command calls this function after parsing. */
export type Start = (work: (context: CommandContext) => Promise<number>) => void
