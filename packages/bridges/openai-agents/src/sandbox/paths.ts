import { SandboxConfigurationError } from '@openai/agents-core/sandbox'
import { paths, type VirtualPath, type Workspace } from '@ws/core'

/** The path for the workspace. Relative paths start at the root; an empty path is the root. */
export function workspacePath(given: string | undefined): string {
  const trimmed = given?.trim() ?? ''
  return trimmed === '' ? '.' : trimmed
}

/** A path for the agent: relative to the root, or absolute if outside of the root. */
export function shownPath(workspace: Workspace, path: VirtualPath): string {
  return paths.isWithin(path, workspace.root) ? paths.relativeTo(path, workspace.root).slice(1) : path
}

/** The path in the form of a manifest: relative to the root. */
export async function logicalPath(workspace: Workspace, given: string): Promise<string> {
  return given.startsWith('/') ? shownPath(workspace, await placeOf(workspace, given)) : given
}

/** The path behind all links. The entry need not exist. */
export async function placeOf(workspace: Workspace, path: string): Promise<VirtualPath> {
  return (await workspace.explain({ operation: 'stat', path })).resolvedPath
}

/** The root of a manifest. The SDK's default `/workspace` may stand for another root. @throws SandboxConfigurationError for another path */
export async function rootOf(workspace: Workspace, asked: string | undefined): Promise<string> {
  if (asked !== undefined && (await placeOf(workspace, asked)) === workspace.root) return asked
  if (asked === undefined || asked === '/workspace') return workspace.root
  throw new SandboxConfigurationError(
    `\`root\` of the manifest is \`${asked}\`, and the workspace lies at \`${workspace.root}\`; leave it out, or mount the workspace there`,
    { root: asked },
  )
}
