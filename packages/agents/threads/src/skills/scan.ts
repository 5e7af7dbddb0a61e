import { isWorkspaceError, type VirtualPath, type Workspace } from '@ws/core'

const maxDepth = 5
const maxDirectories = 2000
const skipped: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** The folders with a `SKILL.md` below a directory, sorted. The subfolders of a skill are not searched. */
export async function scanForSkills(
  workspace: Workspace,
  root: VirtualPath,
  signal: AbortSignal | undefined,
): Promise<{ readonly folders: readonly VirtualPath[]; readonly complete: boolean }> {
  const folders: VirtualPath[] = []
  let level: VirtualPath[] = [root]
  let left = maxDirectories
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const next: VirtualPath[] = []
    for (const directory of level) {
      if (left-- <= 0) return { folders: folders.sort(), complete: false }
      const entries = await listOrNothing(workspace, directory, signal)
      if (entries.some(({ name, type }) => name === 'SKILL.md' && type === 'file')) folders.push(directory)
      else
        next.push(
          ...entries.filter(({ name, type }) => type === 'directory' && !skipped.has(name)).map(({ path }) => path),
        )
    }
    level = next
  }
  return { folders: folders.sort(), complete: true }
}

async function listOrNothing(workspace: Workspace, directory: VirtualPath, signal: AbortSignal | undefined) {
  try {
    return await Array.fromAsync(workspace.list(directory, { signal }))
  } catch (error) {
    if (isWorkspaceError(error)) return []
    throw error
  }
}
