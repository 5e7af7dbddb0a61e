import { SandboxConfigurationError } from '@openai/agents-core/sandbox'
import { paths, type VirtualPath, type Workspace } from '@ws/core'

/** Relative paths are below the root; an empty path is the root. */
export function workspacePath(given: string | undefined): string {
  const trimmed = given?.trim() ?? ''
  return trimmed === '' ? '.' : trimmed
}

/** A path for the agent: relative to the root, or absolute outside. */
export function shownPath(workspace: Workspace, path: VirtualPath): string {
  return paths.isWithin(path, workspace.root) ? paths.relativeTo(path, workspace.root).slice(1) : path
}

/** The path in a manifest: relative to the root. */
export async function logicalPath(workspace: Workspace, given: string): Promise<string> {
  return given.startsWith('/') ? shownPath(workspace, await placeOf(workspace, given)) : given
}

/** Where a path leads, existing or not. */
export async function placeOf(workspace: Workspace, path: string): Promise<VirtualPath> {
  return (await workspace.explain({ operation: 'stat', path })).resolvedPath
}

/** A manifest's root. The SDK's default `/workspace` can be `/`. @throws SandboxConfigurationError for another place */
export async function rootOf(workspace: Workspace, asked: string | undefined): Promise<string> {
  if (asked !== undefined && (await placeOf(workspace, asked)) === workspace.root) return asked
  if (asked === undefined || asked === '/workspace') return workspace.root
  throw new SandboxConfigurationError(
    `\`root\` of the manifest is \`${asked}\`, and the workspace lies at \`${workspace.root}\`; leave it out, or mount the workspace there`,
    { root: asked },
  )
}
