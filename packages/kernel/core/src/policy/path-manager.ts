import { isWorkspaceError, WorkspaceError } from '../errors.ts'
import { checkOptions } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import type { HostPath } from '../path/virtual-path.ts'
import {
  checkHostPath,
  contains,
  hostPathOf,
  lastSegment,
  resolveFrom,
  resolveLexically,
  stripFirstSegment,
} from './path-manager-lexical.ts'
import {
  checkManagerOptions,
  managerError,
  pathTemplateNames,
  type PathException,
  type PathManagerOptions,
} from './path-manager-options.ts'

export interface ResolveWriteOptions {
  /** The name of a configured exception. The path then starts at the workspace, and must lie in the part of that exception. */
  readonly exception?: string | undefined
}

/**
 * Decides which host paths a program may read and write, without opening files. Follows links at the time of the call.
 * If the path can change later, use a `Workspace` instead.
 */
export interface PathManager {
  /** Returns true at and below the workspace root. Relative paths start at the working directory, as in `node:fs`. Invalid input is false. */
  isWithinWorkspace(path: string | URL): boolean
  isWithinOutput(path: string | URL): boolean
  /** The configured workspace root, absolute and normalised. Its links are not followed. */
  readonly workspacePath: HostPath
  readonly outputPath: HostPath
  /**
   * Returns the real path to read; a relative path starts at the workspace root.
   * @throws WorkspaceError `EOUTSIDE`: `..` above the root; `EACCES`: the path is or leads outside; `ENAMETOOLONG`: 4,096 bytes or more;
   * `EINVAL`: not a path, another URL scheme, or too many `..` after names
   */
  resolveRead(path: string | URL): HostPath
  /**
   * Returns the real path to write. A relative path starts at the output root. If it begins with that root's name, this segment is dropped.
   * @throws WorkspaceError as `resolveRead`, and `EINVAL` for an unknown exception
   */
  resolveWrite(path: string | URL, options?: ResolveWriteOptions): HostPath
  /** Replaces `{app_path}`, `{project_path}`, `{output_path}`, `{workspace_path}` and `{prompt_path}`. All methods do this first. */
  expandTemplates(text: string): string
  readonly exceptions: readonly PathException[]
}

interface Area {
  readonly name: 'workspace' | 'output' | 'exception'
  readonly given: string
  /** The root with links resolved. Resolved only once: replacing the root later must not move the border. */
  readonly real: string
}

/**
 * Makes a path manager for two roots.
 * @throws WorkspaceError `EINVAL`: a root is relative or cannot be resolved, a template is unknown, or an exception is incomplete
 */
export function createPathManager(options: PathManagerOptions): PathManager {
  checkManagerOptions(options)
  const follow = checkedRealpath(options.realpath)
  const workspace = makeArea('workspace', options.workspace)
  const output = makeArea('output', options.output)
  const values: Readonly<Record<string, string | undefined>> = {
    ...options.templates,
    workspace_path: workspace.given,
    output_path: output.given,
  }
  const exceptions = new Map((options.exceptions ?? []).map((exception) => [exception.name, makeException(exception)]))

  return {
    workspacePath: workspace.given as HostPath,
    outputPath: output.given as HostPath,
    isWithinWorkspace: (path) => isWithinArea(workspace, path),
    isWithinOutput: (path) => isWithinArea(output, path),
    resolveRead: (path) => resolve('read', path, workspace, workspace),
    resolveWrite(path, options) {
      checkOptions<ResolveWriteOptions>(options, { exception: option.string }, { operation: 'resolveWrite' })
      const exception = options?.exception
      if (exception === undefined) return resolve('write', path, output, output)
      const area = exceptions.get(exception)
      if (area !== undefined) return resolve('write', path, workspace, area)
      throw managerError('exception', `names \`${exception}\`, which is not configured`, 'configure it in `exceptions`')
    },
    expandTemplates,
    exceptions: [...(options.exceptions ?? [])],
  }

  function expandTemplates(text: string): string {
    return text.replaceAll(templatePattern, (whole, name: string) => values[name] ?? whole)
  }

  function isWithinArea(area: Area, given: unknown): boolean {
    try {
      const path = hostPathOf(given, 'check')
      const expanded = expandTemplates(path)
      // Without a working directory, a relative path has no meaning.
      const base = expanded.startsWith('/') ? '/' : process.cwd()
      checkHostPath(expanded, 'check')
      return contains(area.real, resolveFrom(base, expanded, follow, 'check'))
    } catch {
      return false // a path that cannot be resolved is not within
    }
  }

  function resolve(operation: 'read' | 'write', given: string | URL, base: Area, area: Area): HostPath {
    const path = hostPathOf(given, operation)
    const expanded = expandTemplates(path)
    checkHostPath(expanded, operation)
    const relative = base === output ? stripFirstSegment(expanded, lastSegment(output.given)) : expanded
    const written = resolveLexically(base.given, relative)
    try {
      const real = resolveFrom(base.real, relative, follow, operation)
      if (contains(area.real, real)) return real as HostPath
    } catch (error) {
      if (isWorkspaceError(error)) throw error
      throw refusal(operation, path, area, 'cannot be resolved', error)
    }
    if (!relative.startsWith('/') && !contains(base.given, written)) {
      throw refusal(operation, path, area, `climbs above the ${base.name} directory`)
    }
    const byLink = contains(area.given, written) || contains(area.real, written)
    throw refusal(operation, path, area, byLink ? 'leads outside' : 'is outside')
  }

  function makeArea(name: 'workspace' | 'output', root: string): Area {
    try {
      return { name, given: resolveLexically('/', root), real: resolveFrom('/', root, follow, 'configure') }
    } catch (error) {
      throw managerError(name, 'cannot be resolved', 'make sure that it can be reached', error)
    }
  }

  function makeException({ name, path }: PathException): Area {
    const expanded = expandTemplates(path)
    const option = `exceptions.${name}`
    try {
      const given = resolveLexically(workspace.given, expanded)
      const real = resolveFrom(workspace.real, expanded, follow, 'configure')
      if (contains(workspace.real, real)) return { name: 'exception', given, real }
    } catch (error) {
      throw managerError(option, 'cannot be resolved', 'make sure that it can be reached', error)
    }
    throw managerError(option, 'is not in the workspace', 'give a path in the workspace')
  }
}

const templatePattern = new RegExp(`\\{(${pathTemplateNames.join('|')})\\}`, 'gu')

/** Checks the result of the caller's `realpath`: a relative or empty path must not pass. */
function checkedRealpath(realpath: ((path: string) => string) | undefined): (path: string) => string {
  if (realpath === undefined) return (path) => path
  return (path) => {
    const real: unknown = realpath(path)
    if (typeof real !== 'string' || !real.startsWith('/')) throw new TypeError('realpath did not give an absolute path')
    return resolveLexically('/', real)
  }
}

const places = {
  workspace: { where: 'the workspace directory', rule: 'withinWorkspace' },
  output: { where: 'the output directory', rule: 'withinOutput' },
  exception: { where: 'the part of the workspace that the exception opens', rule: 'exception' },
} as const

function refusal(
  operation: 'read' | 'write',
  path: string,
  area: Area,
  what: string,
  native?: unknown,
): WorkspaceError {
  const { where, rule } = places[area.name]
  const climbs = what.startsWith('climbs')
  return new WorkspaceError({
    code: climbs ? 'EOUTSIDE' : 'EACCES',
    operation,
    path,
    reason: climbs || native !== undefined ? what : `${what} ${where}`,
    rule,
    remedy: `${operation} below ${where}, where relative paths start`,
    native,
  })
}
