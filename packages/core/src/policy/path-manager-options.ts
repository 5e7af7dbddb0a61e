import { WorkspaceError } from '../errors.ts'
import { checkHostPath } from './path-manager-lexical.ts'

/** The templates that a path may hold in braces: `{output_path}/report.md`. */
export const pathTemplateNames = ['app_path', 'project_path', 'output_path', 'workspace_path', 'prompt_path'] as const

export type PathTemplateName = (typeof pathTemplateNames)[number]

/** What `{app_path}`, `{project_path}` and `{prompt_path}` stand for; the other two are the manager's own roots. */
export type PathTemplates = Partial<
  Readonly<Record<Exclude<PathTemplateName, 'workspace_path' | 'output_path'>, string | undefined>>
>

/**
 * A part of the workspace outside the output root that may be written all the same. It holds only for calls that name it,
 * so that every tool that writes there says so in its own code.
 */
export interface PathException {
  readonly name: string
  /** In the workspace: absolute, or relative to the workspace root. Templates are filled in. */
  readonly path: string
  /** Why it is needed. May not be blank. */
  readonly justification: string
}

export interface PathManagerOptions {
  /** The directory that is read from: absolute. */
  readonly workspace: string
  /** The directory that is written to: absolute. */
  readonly output: string
  readonly templates?: PathTemplates | undefined
  readonly exceptions?: readonly PathException[] | undefined
  /**
   * Follows the links of an absolute path, synchronously. Where nothing is at the path (a link to nothing included), it
   * resolves what is there and keeps the rest; what it throws refuses the path. `@ws/adapter-local` has one. Absent: paths
   * are judged as they are written, which is right for virtual paths, and for host paths only where there are no links.
   */
  readonly realpath?: ((path: string) => string) | undefined
}

/** One source of configuration: everything in it is optional. */
export type PathManagerSettings = {
  readonly [Key in keyof PathManagerOptions]?: PathManagerOptions[Key] | undefined
}

export interface PathManagerSources {
  /** From the command line: goes over everything else. */
  readonly flags?: PathManagerSettings | undefined
  /** From the configuration file. */
  readonly file?: PathManagerSettings | undefined
  readonly defaults?: PathManagerSettings | undefined
}

/**
 * Puts settings together: flags over file over defaults, field by field and template by template; `undefined` is "not
 * given". Exceptions are one field: those of a higher source replace those of a lower one.
 *
 * @throws WorkspaceError `EINVAL` when no source names the workspace or the output.
 */
export function resolvePathManagerOptions({ flags, file, defaults }: PathManagerSources): PathManagerOptions {
  const sources = [flags, file, defaults].filter((source) => source !== undefined)
  for (const source of sources) checkObject('settings', source)
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

/** Checks types and forms; what depends on links is checked by the manager. */
export function checkOptions(options: PathManagerOptions): void {
  checkObject('options', options)
  const { workspace, output, templates = {}, exceptions = [], realpath } = options
  checkObject('templates', templates)
  if (realpath !== undefined && typeof realpath !== 'function') {
    throw invalidOption('realpath', 'is no function', 'pass a function that resolves an absolute path')
  }
  if (!Array.isArray(exceptions)) throw invalidOption('exceptions', 'is no list', 'pass a list of exceptions')
  checkAbsolute('workspace', workspace)
  checkAbsolute('output', output)
  for (const [name, value] of Object.entries(templates)) {
    if (!pathTemplateNames.some((known) => known === name) || name === 'workspace_path' || name === 'output_path') {
      throw invalidOption(
        `templates.${name}`,
        'is no template that can be set',
        'set app_path, project_path, prompt_path',
      )
    }
    if (value !== undefined) checkAbsolute(`templates.${name}`, value)
  }
  const names = new Set<string>()
  for (const exception of exceptions as readonly PathException[]) {
    checkObject('exceptions[]', exception)
    const { name, path, justification } = exception
    if (typeof name !== 'string' || name.trim() === '' || names.has(name)) {
      throw invalidOption('exceptions', 'have a name that is blank or taken', 'give each exception a name of its own')
    }
    names.add(name)
    checkHostPath(path, 'configure')
    if (typeof justification !== 'string' || justification.trim() === '') {
      throw invalidOption(`exceptions.${name}`, 'has no justification', 'say why the workspace must be written there')
    }
  }
}

function checkObject(option: string, value: unknown): void {
  if (typeof value === 'object' && value !== null) return
  throw invalidOption(option, 'is no object', 'pass an object as the types say')
}

function checkAbsolute(option: string, value: unknown): void {
  checkHostPath(value, 'configure')
  if (!value.startsWith('/')) throw invalidOption(option, 'is not an absolute path', 'make it absolute first')
}

/** The error for an option: it names the option, not its value. */
export function invalidOption(option: string, reason: string, remedy: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'configure', path: option, reason, remedy, native })
}
