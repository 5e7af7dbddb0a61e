import type { Workspace } from '@ws/core'
import type { z } from 'zod'

import type { Json } from '../json.ts'

export interface StepContext {
  readonly runId: string
  readonly stepId: string
  /** From 1. */
  readonly attempt: number
  /** Is aborted after the step's timeout, after a breach, and when the run is ended. */
  readonly signal: AbortSignal
  /** The directory in which commands start: `/workspace`, or `/output` for a step without inputs. */
  readonly startsIn: string
  /** The step's workspace: inputs below `/workspace`, outputs below `/output`. Made on first use, closed with the step. */
  workspace(): Promise<Workspace>
  /** Reads a file, relative to the workspace's root [PM4]. @throws WorkspaceError `ESECURITY` outside of the inputs */
  read(path: string): Promise<Uint8Array>
  /**
   * Writes a file. A relative path starts at the output's root; a leading output name is removed once [PM4, PM8].
   * @throws WorkspaceError `ESECURITY` outside the outputs
   */
  write(path: string, data: string | Uint8Array): Promise<void>
  /** The path to write, in the form that the step sees: below `/output`. @throws WorkspaceError `ESECURITY` outside of the output */
  resolveWrite(path: string): string
  /** Fills in the templates of a text: `{output_path}` is `/output` [PM7]. */
  expand(text: string): string
  /** Adds to the step's log, which keeps at most 1 MiB. */
  log(text: string): void
}

/** A kind of step, which acts through its context. If `run` throws, nothing lands. The value of `run` is recorded and reported. */
export interface StepType<Settings = unknown> {
  /** The shape of `with`. */
  readonly settings: z.ZodType<Settings>
  /** Skip a step whose inputs and settings equal those of an earlier run. Default true. */
  readonly repeatable?: boolean | undefined
  /** Part of the fingerprint of a step: change it when the type's behaviour changes. Default `1`. */
  readonly version?: string | undefined
  run(settings: Settings, context: StepContext): Promise<Json | undefined>
}

// The settings of a step are checked by the schema of the step's type.
// oxlint-disable-next-line typescript/no-explicit-any
export type StepTypes = Readonly<Record<string, StepType<any>>>

/** Infers the types of the settings of a step type. */
export function defineStepType<Settings>(type: StepType<Settings>): StepType<Settings> {
  return type
}
