import type { CommandResult, ExecOptions, Rule, Workspace } from '@ws/core'
import type { GuaranteeField, Guarantees } from '@ws/core/executor'

import type { ExecutorName } from '../config/executors.ts'
import type { World } from './host/world.ts'

export type MountPoint = '/' | '/workspace'

/**
 * - `ok`: it holds.
 * - `refused`: the executor declares that it cannot hold this, and commands are refused as they must be.
 * - `view`: the executor declares that it translates, which ordinary programs do not notice and others can evade; a
 *   requirement of a boundary is refused.
 * - `skipped`: a program that the check runs is not installed.
 * - `failed`: it does not hold.
 */
export type Status = 'ok' | 'refused' | 'view' | 'skipped' | 'failed'

/** The executor does not hold it, and properly declares that. */
export type Shortfall = Extract<Status, 'refused' | 'view'>

export interface Outcome {
  readonly status: Status
  /** Why it failed or was skipped; a fact worth showing. */
  readonly note?: string | undefined
}

/** One executor with the workspace mounted at one place, over a scratch directory of its own. */
export interface Site {
  readonly executor: ExecutorName
  readonly at: MountPoint
  readonly guarantees: Guarantees
  readonly world: World
  readonly signal: AbortSignal
  /** The project with the skills mounted read-only; no rules. */
  readonly workspace: Workspace
  /** A path of the project as callers see it: `/workspace/a` for `/a`. */
  path(path: string): string
  /** The project alone, under these rules. Closed with the site. */
  under(...rules: readonly Rule[]): Promise<Workspace>
  /** Runs a command line in {@link workspace}, also where the executor cannot hold the skills read-only. */
  run(command: string, options?: ExecOptions): Promise<CommandResult>
  /** Opens the project with only this executor and a requirement, to see whether that is refused. */
  require(field: GuaranteeField, level: 'kernel'): Promise<Workspace>
}

export type CheckGroup = 'consistency' | 'tools' | 'policy' | 'isolation'

export interface Check {
  readonly id: string
  readonly group: CheckGroup
  /** A statement that is true when the check passes; at most 54 characters. */
  readonly title: string
  /** A program that commands need for it, and the package that brings it. */
  readonly needs?: { readonly program: string; readonly package: string } | undefined
  /** It looks at processes, or at what only the kernel keeps; an interpreter has none. */
  readonly processes?: true | undefined
  /** It takes a store that holds symbolic links. */
  readonly links?: true | undefined
  /** Where it means something; absent: everywhere. */
  readonly only?: MountPoint | undefined
  /** Throws when it does not hold. */
  readonly run: (site: Site) => Promise<Shortfall | undefined | void>
}

export type CheckTitle = Pick<Check, 'id' | 'group' | 'title' | 'only'>

export interface CheckResult extends Outcome {
  readonly check: CheckTitle
  readonly executor: ExecutorName
  readonly at: MountPoint
  /** Where the files were, if not in a directory of this machine: `s3`. */
  readonly store?: string | undefined
  /** Milliseconds. */
  readonly duration: number
}
