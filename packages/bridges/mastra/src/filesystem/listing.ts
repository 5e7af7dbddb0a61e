import type { FileEntry, ListOptions, WalkEntry, WalkOptions } from '@mastra/core/workspace'
import { paths, type Workspace, type WorkspaceEntry } from '@ws/core'
import { ifThere } from '@ws/tools/bridge'

import { inMastraWords } from './errors.ts'

export async function readDirectory(
  workspace: Workspace,
  path: string,
  { recursive = false, extension, maxDepth }: ListOptions = {},
): Promise<FileEntry[]> {
  const extensions =
    extension === undefined || extension === ''
      ? undefined
      : [extension].flat().map((one) => `.${one.replace(/^\./u, '')}`)
  // Mastra counts only the levels below the first level
  const depth = recursive ? (maxDepth === undefined ? undefined : maxDepth + 1) : 1
  const entries = await entriesOf(workspace, path, 'readdir', depth)
  return entries
    .filter(({ type, path: name }) => type === 'directory' || (extensions?.includes(extensionOf(name)) ?? true))
    .map(({ path: name, ...entry }) => ({ ...entry, name }))
}

/** Lists everything below a directory, with relative paths. Includes hidden names only on request. */
export async function walk(
  workspace: Workspace,
  path: string,
  { maxDepth, includeHidden = false }: WalkOptions = {},
): Promise<WalkEntry[]> {
  const entries = await entriesOf(workspace, path, 'walk', maxDepth)
  return includeHidden ? entries : entries.filter((entry) => !isHidden(entry.path))
}

export function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'))
}

function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot)
}

function entriesOf(
  workspace: Workspace,
  path: string,
  operation: string,
  maxDepth: number | undefined,
): Promise<WalkEntry[]> {
  return inMastraWords({ operation, path, subject: 'directory' }, async () => {
    if (maxDepth !== undefined && maxDepth < 1) return []
    const base = await workspace.realPath(path)
    const entries: WalkEntry[] = []
    const options = maxDepth === 1 ? { details: true } : { details: true, recursive: true, maxDepth }
    for await (const entry of workspace.list(base, options)) {
      entries.push(await describeEntry(workspace, entry, paths.relativeTo(entry.path, base).slice(1)))
    }
    return entries
  })
}

/** Describes an entry. A link has the type of its target, and is not entered. */
async function describeEntry(
  workspace: Workspace,
  { name, type, size, path: full, target }: WorkspaceEntry,
  path: string,
): Promise<WalkEntry> {
  if (type !== 'symlink') {
    return {
      name,
      path,
      type: type === 'directory' ? 'directory' : 'file',
      ...(type === 'file' && size !== undefined && { size }),
    }
  }
  // show a link that cannot be followed as a link
  const behind = await ifThere(workspace.stat(full, { followLinks: true })).catch(() => undefined)
  return {
    name,
    path,
    type: behind?.type === 'directory' ? 'directory' : 'file',
    isSymlink: true,
    ...(target !== undefined && { symlinkTarget: target }),
  }
}
