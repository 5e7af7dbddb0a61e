import { WorkspaceError } from '../errors.ts'
import type { HostsRule, PatternRule } from '../contract/policy.ts'
import { listOf } from './host-list.ts'
import { CompiledPattern } from './patterns.ts'
import { readOptions, ruleOptions } from './rule-options.ts'

export interface AskHostsOptions {
  /** Default: `ask` with the arguments. Each rule of a workspace needs its own name. */
  readonly name?: string | undefined
  /** A part of a sentence for messages, printed directly after the path or host. */
  readonly reason?: string | undefined
  /** Default: to ask the user. */
  readonly remedy?: string | undefined
}

export interface AskOptions extends AskHostsOptions {
  /** The rights that remain at a match without a grant. Default `none`. */
  readonly access?: PatternRule['access'] | undefined
}

const words = {
  reason: 'needs the consent of a person',
  remedy: 'ask the user to allow it, or go on without it',
} as const

/**
 * Denies every match of the globs as `denyGlob` does, until a person grants a single call of a tool (`approve` of `@ws/tools`).
 * Without anybody to ask, the rule only denies.
 */
export function ask(
  patterns: string | readonly string[],
  { access = 'none', name, ...given }: AskOptions = {},
): PatternRule {
  readOptions('ask', ruleOptions.ask, { access, name, ...given })
  const globs = typeof patterns === 'string' ? [patterns] : patterns
  if (!Array.isArray(globs) || globs.some((glob) => typeof glob !== 'string' || glob === ''))
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'rule',
      reason: 'the globs must be a non-empty string, or a list of such strings',
      remedy: 'pass a glob',
    })
  const rule = { kind: 'pattern', name: name ?? `ask(${globs.join(' ')})`, access, patterns: [...globs] } as const
  return patternRule({ ...rule, asks: true, ...words, ...given })
}

/** Returns the rule. Throws for a malformed glob, so that the caller of the maker gets the error. */
export function patternRule(rule: PatternRule): PatternRule {
  new CompiledPattern(rule)
  return rule
}

/**
 * Denies connections to these hosts, written as for `allowHosts`, until a person grants a single call of a tool. Other hosts are as
 * before. For commands, and for downloads of tools.
 */
export function askHosts(hosts: readonly string[], { name = 'askHosts', ...given }: AskHostsOptions = {}): HostsRule {
  readOptions('askHosts', ruleOptions.askHosts, { name, ...given })
  listOf({ name, hosts })
  return { kind: 'hosts', name, hosts: [...hosts], asks: true, ...words, ...given }
}
