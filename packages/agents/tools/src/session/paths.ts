import { isWorkspaceError, paths, type VirtualPath, type Workspace, WorkspaceError } from '@ws/core'

export interface ToolPath {
  /** Absolute. Keeps a `..` after a name, because its meaning depends on links. */
  readonly path: VirtualPath
  /** A note that the path means an existing entry named `workspace`, not the root. */
  readonly note?: string | undefined
}

/** Models put this name in front of paths, since commands often run in `/workspace`. */
const prefix = 'workspace'
/** Longest path, in characters, that is split at once: twice the limit, as a leading `workspace` does not count. */
const longPath = 8_192

/**
 * Resolves the path of a call [FS13]. One leading `workspace` means the root, unless an entry of this name exists, which a note then says.
 * A path outside is refused, also after that segment. @throws WorkspaceError `EOUTSIDE`, `EINVAL`, `ENAMETOOLONG`
 */
export async function resolveToolPath(
  workspace: Workspace,
  operation: string,
  given: string,
  signal: AbortSignal | undefined,
): Promise<ToolPath> {
  const { root } = workspace
  // Refuses a path of millions of slashes by its length, before splitting it.
  if (given.length > longPath) paths.parse(given, { base: root, operation })
  const segments = given.split('/').filter((segment) => segment !== '' && segment !== '.')
  const isAbsolute = given.startsWith('/')
  const names = isAbsolute && root !== '/' && isBelow(segments, root)
  if (segments[0] !== prefix || names) return { path: absolute(operation, given, root) }
  refuseClimbing(operation, given, segments.slice(1))
  const literal = isAbsolute || root === '/' ? `/${prefix}` : `${root}/${prefix}`
  const rest = segments.slice(1).join('/')
  const found = await lookUp(workspace, literal, signal)
  if (found === 'real') {
    return {
      path: absolute(operation, rest === '' ? literal : `${literal}/${rest}`, root),
      note: `\`${literal}\` is a real entry here, and was not taken for the root.`,
    }
  }
  if (found === 'alias' && segments[1] === prefix) throw twice(operation, given, segments.slice(1))
  return { path: absolute(operation, rest === '' ? '.' : withSlash(rest, given), root) }
}

function withSlash(rest: string, given: string): string {
  return given.endsWith('/') ? `${rest}/` : rest
}

function isBelow(segments: readonly string[], root: string): boolean {
  const wanted = root.slice(1).split('/')
  return wanted.every((name, index) => segments[index] === name)
}

function absolute(operation: string, given: string, root: VirtualPath): VirtualPath {
  const { path, directory } = paths.parse(given, { base: root, operation })
  const text = typeof path === 'string' ? path : `/${path.segments.join('/')}`
  return (directory && text !== '/' ? `${text}/` : text) as VirtualPath
}

function refuseClimbing(operation: string, given: string, segments: readonly string[]): void {
  let depth = 0
  for (const segment of segments) {
    depth += segment === '..' ? -1 : 1
    if (depth >= 0) continue
    throw new WorkspaceError({
      code: 'EOUTSIDE',
      operation,
      path: given,
      reason: 'climbs above the root of the workspace',
      remedy: 'give a path below `/`',
    })
  }
}

/** The error for a path that begins with `workspace` twice: only the first `workspace` could mean the root. */
function twice(operation: string, given: string, rest: readonly string[]): WorkspaceError {
  return new WorkspaceError({
    code: 'ENOENT',
    operation,
    path: given,
    reason: 'does not exist: one `workspace` in front is the root, and there is nothing of that name in it',
    remedy: `give \`/${rest.slice(1).join('/')}\``,
  })
}

/** `real`: an entry of that name exists. `alias`: the name is another name of the root. */
async function lookUp(
  workspace: Workspace,
  literal: string,
  signal: AbortSignal | undefined,
): Promise<'real' | 'alias' | 'missing'> {
  try {
    const { resolvedPath } = await workspace.explain({ operation: 'stat', path: literal })
    if (resolvedPath === workspace.root) return 'alias'
    await workspace.stat(literal, { signal })
    return 'real'
  } catch (error) {
    if (isWorkspaceError(error)) return 'missing'
    throw error
  }
}
