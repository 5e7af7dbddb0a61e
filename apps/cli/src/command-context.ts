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
  /** Aborted by Ctrl-C, and when the output is closed. */
  readonly signal: AbortSignal
  /**
   * Opens the workspace; with `executors` when commands are to run: those of the settings, or these; with `readOnly` when
   * nothing will be changed; with `rules` and `mounts` besides those of the settings. The caller closes it.
   */
  open(options?: {
    readonly executors?: boolean | readonly ExecutorName[]
    readonly readOnly?: boolean
    readonly checkpoints?: CheckpointEngine
    readonly rules?: readonly Rule[]
    readonly mounts?: readonly MountSettings[]
  }): Promise<Workspace>
  /** Says on standard error what went wrong, for commands that go on afterwards. */
  complain(error: unknown): ErrorReport
}

/** Registers what is to be done; called by a command's action once its arguments are parsed. */
export type Start = (work: (context: CommandContext) => Promise<number>) => void
