import { WorkspaceError } from '../errors.ts'
import { checkOptions } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import type { OptionShapes } from '../options/shapes.ts'
import { checkHostPath } from './path-manager-lexical.ts'

/** The templates that a path may contain in braces: `{output_path}/report.md`. */
export const pathTemplateNames = ['app_path', 'project_path', 'output_path', 'workspace_path', 'prompt_path'] as const

export type PathTemplateName = (typeof pathTemplateNames)[number]

/** The values of `{app_path}`, `{project_path}` and `{prompt_path}`. `{workspace_path}` and `{output_path}` are the manager's roots. */
export type PathTemplates = Partial<
  Readonly<Record<Exclude<PathTemplateName, 'workspace_path' | 'output_path'>, string | undefined>>
>

/** A writable part of the workspace outside the output root. Only calls with its name may write there. */
export interface PathException {
  readonly name: string
  /** A path in the workspace: absolute, or relative to the workspace root. May contain templates. */
  readonly path: string
  /** Why the exception is needed. Must not be blank. */
  readonly justification: string
}

export interface PathManagerOptions {
  /** The root for reading. Absolute. */
  readonly workspace: string
  /** The root for writing. Absolute. */
  readonly output: string
  readonly templates?: PathTemplates | undefined
  readonly exceptions?: readonly PathException[] | undefined
  /**
   * Follows the links of an absolute path, synchronously, and keeps missing names. If the function throws, the path is refused.
   * `@ws/adapter-local` exports such a function. Absent: paths are compared as text, which is correct only without links.
   */
  readonly realpath?: ((path: string) => string) | undefined
}

export type PathManagerSettings = {
  readonly [Key in keyof PathManagerOptions]?: PathManagerOptions[Key] | undefined
}

export interface PathManagerSources {
  readonly flags?: PathManagerSettings | undefined
  readonly file?: PathManagerSettings | undefined
  readonly defaults?: PathManagerSettings | undefined
}

const sourceShapes: OptionShapes<PathManagerSources> = {
  flags: option.object,
  file: option.object,
  defaults: option.object,
}

/**
 * Merges settings: flags override the file, and the file overrides defaults. Merges by field and by template; `exceptions` is one field.
 * @throws WorkspaceError `EINVAL` if no source names the workspace or the output
 */
export function resolvePathManagerOptions(given: PathManagerSources): PathManagerOptions {
  checkOptions<PathManagerSources>(given, sourceShapes, { operation: 'resolvePathManagerOptions' })
  const sources = [given.flags, given.file, given.defaults].filter((source) => source !== undefined)
  const pick = <Key extends keyof PathManagerOptions>(key: Key): PathManagerSettings[Key] =>
    sources.find((source) => source[key] !== undefined)?.[key]

  const templates: Partial<Record<keyof PathTemplates, string>> = {}
  for (const source of sources.toReversed()) {
    for (const [name, value] of Object.entries(source.templates ?? {})) {
      if (value !== undefined) templates[name as keyof PathTemplates] = value
    }
  }
  return {
    workspace: pick('workspace') ?? missingRoot('workspace'),
    output: pick('output') ?? missingRoot('output'),
    templates,
    exceptions: pick('exceptions'),
    realpath: pick('realpath'),
  }
}

function missingRoot(name: 'workspace' | 'output'): never {
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'configure',
    reason: `no ${name} directory is configured`,
    remedy: `give \`${name}\` as a flag, in the configuration file or as a default`,
  })
}

const hostPath = option.hidden(
  option.of(
    'an absolute POSIX path of at most 4,095 bytes, such as `/project` or in WSL 2 `/mnt/c/project`',
    (value) => isHostPath(value) && value.startsWith('/'),
  ),
)

const exceptionShapes: OptionShapes<PathException> = {
  name: option.required(option.text),
  path: option.required(option.hidden(option.of('a POSIX path of at most 4,095 bytes', isHostPath))),
  justification: option.required(option.text),
}

const shapes: OptionShapes<PathManagerOptions> = {
  workspace: option.required(hostPath),
  output: option.required(hostPath),
  templates: option.options<PathTemplates>({ app_path: hostPath, project_path: hostPath, prompt_path: hostPath }),
  exceptions: option.list(option.options<PathException>(exceptionShapes), 'a list of exceptions'),
  realpath: option.function,
}

const operation = 'createPathManager'

export function checkManagerOptions(options: unknown): asserts options is PathManagerOptions {
  checkOptions<PathManagerOptions>(options, shapes, { operation })
  const names = (options?.exceptions ?? []).map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  throw managerError('exceptions', `names \`${twice}\` twice`, 'give each exception its own name')
}

/** Returns an error about a well-formed option that makes no sense. Omits the value of the option. */
export function managerError(name: string, state: string, remedy: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason: `\`${name}\` ${state}`, remedy, native })
}

function isHostPath(value: unknown): value is string {
  try {
    checkHostPath(value, operation)
    return true
  } catch {
    return false
  }
}
