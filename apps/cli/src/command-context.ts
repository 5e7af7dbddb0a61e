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
   * Opens the workspace; the caller closes it. `executors`: for commands, those of the settings or the given ones. `readOnly`: no changes.
   * `rules` and `mounts` are added to those of the settings.
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

/** Registers work; called by a command's action after parsing. */
export type Start = (work: (context: CommandContext) => Promise<number>) => void
