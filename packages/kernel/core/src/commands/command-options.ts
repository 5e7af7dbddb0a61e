import { virtualError } from '../mount/errors.ts'
import type { Gate } from '../mount/gate.ts'
import { stripAlias } from '../path/segments.ts'
import type { InputOptions } from '../path/segments.ts'
import { parseVirtualPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { CommandDefaults, ExecOptions } from '../contract/workspace.ts'

export function acknowledgedBy({ acknowledge = [], env = {}, shellState }: ExecOptions): ReadonlySet<string> {
  if (acknowledge.length > 0 && shellState !== undefined) {
    throw virtualError({
      code: 'EINVAL',
      operation: 'exec',
      reason: '`shellState` cannot be set for a command that acknowledges a rule: earlier commands left that state',
      remedy: 'leave it out',
    })
  }
  const start = acknowledge.length === 0 ? undefined : Object.keys(env).find(isStartVariable)
  if (start !== undefined) {
    throw virtualError({
      code: 'EINVAL',
      operation: 'exec',
      reason: `\`env.${start}\` cannot be set for a command that acknowledges a rule: it decides which files run first`,
      remedy: 'leave it out, and name programs by their whole path',
    })
  }
  return new Set(acknowledge)
}

/** Variables that name start-up files or program directories. Earlier commands can have put files there. */
function isStartVariable(name: string): boolean {
  return /^(?:PATH|BASH_ENV|ENV|ZDOTDIR|FPATH|LD_.*)$/.test(name)
}

function withoutStartVariables(env: CommandDefaults['env']): CommandDefaults['env'] {
  return env && Object.fromEntries(Object.entries(env).filter(([name]) => !isStartVariable(name)))
}

/** Copies the command defaults of a workspace. Checks only the cache; the caller has checked the other options. */
export function copyCommandDefaults(
  { gitIdentity, ...given }: CommandDefaults = {},
  place: CachePlace,
): CommandDefaults {
  const env = { ...(gitIdentity && identityVariables(gitIdentity)), ...given.env }
  return { ...given, ...(Object.keys(env).length > 0 && { env }), cache: cacheOf(given.cache, place) }
}

function identityVariables({ name, email }: NonNullable<CommandDefaults['gitIdentity']>): Record<string, string> {
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email }
}

export interface CachePlace extends Omit<InputOptions, 'operation'> {
  readonly gate: Gate
  readonly scratch: VirtualPath | undefined
}

/** Returns the directory for caches; `undefined` means HOME. @throws WorkspaceError if the directory is not writable */
function cacheOf(given: string | undefined, { gate, scratch, base, aliases }: CachePlace): VirtualPath | undefined {
  const operation = 'createWorkspace'
  if (given === undefined || given === 'scratch') {
    if (scratch !== undefined) return `${scratch}/.cache` as VirtualPath
    if (given === undefined) return undefined
    throw virtualError({
      code: 'EINVAL',
      operation,
      reason: '`commands.cache` is `scratch`, and the workspace has no `/tmp` of its own',
      remedy: 'give a directory of the workspace',
    })
  }
  const path = stripAlias(parseVirtualPath(given, { base, operation }), aliases)
  gate.admit('createDirectory', path, 'write')
  return path
}

export function narrowCommand<Options extends CommandDefaults & Pick<ExecOptions, 'acknowledge'>>(
  defaults: CommandDefaults,
  options: Options,
): Options {
  const bare = (options.acknowledge ?? []).length > 0
  return {
    ...options,
    timeout: smaller(defaults.timeout, options.timeout),
    maxOutputBytes: smaller(defaults.maxOutputBytes, options.maxOutputBytes),
    env: { ...(bare ? withoutStartVariables(defaults.env) : defaults.env), ...options.env },
    login: defaults.login === false ? false : options.login,
  }
}

function smaller(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined || second === undefined ? (first ?? second) : Math.min(first, second)
}
