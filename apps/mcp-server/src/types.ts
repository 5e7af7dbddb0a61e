import type { VirtualPath, Workspace } from '@ws/core'
import type { Requirement } from '@ws/core/executor'
import type { ToolsOptions } from '@ws/tools'

/** The parts of a workspace that a client is shown. */
export interface SourceOptions {
  /** The form of the tools, their limits and downloads. */
  readonly tools?: Omit<ToolsOptions, 'commands'> | undefined
  /**
   * Offers the tools that run commands, where the workspace's executor meets this requirement. Default: no commands.
   * `{}` takes any executor.
   */
  readonly commands?: Requirement | undefined
  /** The name that clients show. Default `workspace`. */
  readonly name?: string | undefined
  /** A text for the model, which clients may put into its prompt. */
  readonly instructions?: string | undefined
}

/** A skill as `listSkills()` of a thread names it. */
export interface SkillFolder {
  readonly name: string
  /** The folder with its `SKILL.md`. */
  readonly path: VirtualPath
}

/** A workspace, and the skills in it. */
export interface OpenedWorkspace {
  readonly workspace: Workspace
  /** Served by the skills extension, as they are when serving begins. Default: none. */
  readonly listSkills?: (() => Promise<{ readonly skills: readonly SkillFolder[] }>) | undefined
}

/** Ends what was begun. Twice is fine. */
export interface Served extends AsyncDisposable {
  close(): Promise<void>
}
