import { SandboxConfigurationError } from '@openai/agents-core/sandbox'
import { isWithin, relativeTo } from '@ws/core'
import type { VirtualPath, Workspace } from '@ws/core'

/** A path of the SDK as the workspace takes it: relative paths are below its root, and an empty one is the root. */
export function workspacePath(given: string | undefined): string {
  const trimmed = given?.trim() ?? ''
  return trimmed === '' ? '.' : trimmed
}

/** The path that an agent can use: relative to the root, or absolute where it lies elsewhere. */
export function shownPath(workspace: Workspace, path: VirtualPath): string {
  return isWithin(path, workspace.root) ? relativeTo(path, workspace.root).slice(1) : path
}

/** The path by which a manifest names an entry: relative to the root. */
export async function logicalPath(workspace: Workspace, given: string): Promise<string> {
  return given.startsWith('/') ? shownPath(workspace, await placeOf(workspace, given)) : given
}

/** The place in the workspace that a path leads to. Nothing need be there. */
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
