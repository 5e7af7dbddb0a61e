import { checkCount, checkOption } from './arguments.ts'
import { virtualError } from './errors.ts'
import type { CommandDefaults, ExecOptions } from './types.ts'

const longestTimeout = 2 ** 31 - 1
const defaultNames = ['timeout', 'maxOutputBytes', 'env', 'login'] as const satisfies readonly (keyof CommandDefaults)[]

/**
 * Checks the options of one command.
 *
 * @returns the rules that it acknowledges
 * @throws WorkspaceError `EINVAL` that names the option
 */
export function checkCommandOptions(options: ExecOptions): ReadonlySet<string> {
  const { killGrace, acknowledge = [], shell, cwd, outputFile } = options
  checkShared(options, '')
  if (killGrace !== undefined) checkCount('killGrace', killGrace, 0)
  checkOption('shell', shell, 'string')
  checkOption('cwd', cwd, 'string')
  checkOption('outputFile', outputFile, 'string')
  if (!Array.isArray(acknowledge) || acknowledge.some((name) => typeof name !== 'string')) {
    throw virtualError({
      code: 'EINVAL',
      operation: 'exec',
      reason: '`acknowledge` must be a list of rule names',
      remedy: 'pass the names that the refusal told',
    })
  }
  const start = acknowledge.length === 0 ? undefined : Object.keys(options.env ?? {}).find(isStartVariable)
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

/**
 * Variables that name files which a shell runs before the command, or directories in which it looks for programs. A command
 * that runs without a rule goes without: commands that ran before can have put files there.
 */
function isStartVariable(name: string): boolean {
  return /^(?:PATH|BASH_ENV|ENV|ZDOTDIR|FPATH|LD_.*)$/.test(name)
}

function withoutStartVariables(env: CommandDefaults['env']): CommandDefaults['env'] {
  return env && Object.fromEntries(Object.entries(env).filter(([name]) => !isStartVariable(name)))
}

/**
 * The defaults of a workspace, as a copy.
 *
 * @throws WorkspaceError `EINVAL` that names the option
 */
export function readCommandDefaults(given: CommandDefaults | undefined): CommandDefaults {
  if (given === undefined) return {}
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidDefaults(`\`commands\` must be an object, got ${given === null ? 'null' : typeof given}`)
  }
  const unknown = Object.keys(given).find((name) => !defaultNames.some((known) => known === name))
  if (unknown !== undefined) throw invalidDefaults(`\`commands\` has no option \`${unknown}\``)
  checkShared(given, 'commands.')
  return { ...given, ...(given.env && { env: { ...given.env } }) }
}

/** The options of one command, narrowed by the workspace's defaults. Both have been checked. */
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

/** What a workspace and a single command can both set. */
function checkShared({ timeout, maxOutputBytes, env, login }: CommandDefaults, prefix: '' | 'commands.'): void {
  if (timeout !== undefined) {
    checkCount(`${prefix}timeout`, timeout, 1)
    if (timeout > longestTimeout) checkCount(`${prefix}timeout`, Number.NaN, 1)
  }
  if (maxOutputBytes !== undefined) checkCount(`${prefix}maxOutputBytes`, maxOutputBytes, 0)
  checkOption(`${prefix}login`, login, 'boolean')
  checkOption(`${prefix}env`, env, 'object')
  for (const [key, value] of Object.entries(env ?? {})) {
    if (typeof value === 'string' && !value.includes('\0') && /^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) continue
    const named = /^\w+$/.test(key) ? `\`${prefix}env.${key}\` must be a string without NUL` : undefined
    throw virtualError({
      code: 'EINVAL',
      operation: prefix === '' ? 'exec' : 'createWorkspace',
      reason: named ?? `names in \`${prefix}env\` must be letters, digits and \`_\`, and not begin with a digit`,
      remedy: 'use names such as `MY_NAME` and strings as values',
    })
  }
}

function invalidDefaults(reason: string): Error {
  return virtualError({
    code: 'EINVAL',
    operation: 'createWorkspace',
    reason,
    remedy: `use any of ${defaultNames.map((name) => `\`${name}\``).join(', ')}`,
  })
}
