import type { VirtualPath, Workspace } from '@ws/core'
import type { Requirement } from '@ws/core/executor'
import type { ToolsOptions } from '@ws/tools'

/** The parts of a workspace that a client can see. */
export interface SourceOptions {
  /** The form of the tools, their limits and downloads. */
  readonly tools?: Omit<ToolsOptions, 'commands'> | undefined
  /** Offers tools that run commands, if the executor meets this requirement. Default: no commands. `{}` accepts any executor. */
  readonly commands?: Requirement | undefined
  /**
   * Asks the client's user by elicitation about each call that changed files, before the changes count. A call of a client that cannot
   * ask does not run. Takes the place of `approve` in `tools`, whose `decideWithin` is 600,000 by default: ten minutes. Default false.
   */
  readonly approve?: boolean | undefined
  /** The name that clients show. Default `workspace`. */
  readonly name?: string | undefined
  /** A text for the model. Clients may put the text into the model's prompt. */
  readonly instructions?: string | undefined
}

/** Limits of a server, equal over HTTP and over stdio. */
export interface MessageLimits {
  /** Number of simultaneous calls. Default 16. */
  readonly maxCalls?: number | undefined
  /** Number of open streams of changes. Default 64. */
  readonly maxStreams?: number | undefined
  /** Bytes of memory for messages of all running calls: texts and values. Default 64 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Bytes of one message. Default 4 MiB. A message also has at most 20,000 values and 256 levels. */
  readonly maxMessageBytes?: number | undefined
  /** Milliseconds until an HTTP client that reads no answer is disconnected. Default 60,000. */
  readonly unreadTimeout?: number | undefined
}

export interface SkillFolder {
  readonly name: string
  /** The folder that contains `SKILL.md`. */
  readonly path: VirtualPath
}

export interface OpenedWorkspace {
  readonly workspace: Workspace
  /** The skills that the extension serves. Listed when serving starts. Default: none. */
  readonly listSkills?: (() => Promise<{ readonly skills: readonly SkillFolder[] }>) | undefined
}

/** Ends the service. Repeated calls do nothing. */
export interface Served extends AsyncDisposable {
  close(): Promise<void>
}
