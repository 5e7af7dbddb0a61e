import type { VirtualPath } from '@ws/core'

/** A skill as the Agent Skills standard (agentskills.io) describes it: a folder with a `SKILL.md`. */
export interface Skill {
  readonly name: string
  /** When to use the skill, for the model. */
  readonly description: string
  readonly path: VirtualPath
  /** The path of the skill's `SKILL.md`. */
  readonly location: VirtualPath
  /** The source: skills of all users, or the user's own. */
  readonly source: 'system' | 'user'
  readonly license?: string | undefined
  readonly compatibility?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Names of tools that the skill may use without approval. */
  readonly allowedTools?: readonly string[] | undefined
}

export interface SkillList {
  /** Sorted by name. A skill of the user replaces a system skill of the same name. */
  readonly skills: readonly Skill[]
  /** One sentence for each skill that was left out, or accepted in spite of a fault. */
  readonly warnings: readonly string[]
}

export interface ActivatedSkill extends Skill {
  /** The body of `SKILL.md`, without its frontmatter. */
  readonly body: string
}
