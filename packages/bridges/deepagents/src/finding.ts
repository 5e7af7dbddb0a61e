import { isWorkspaceError } from '@ws/core'
import type { Workspace, WorkspaceEntry } from '@ws/core'
import { ifThere } from '@ws/tools/bridge'
import type { BackendProtocolV2, FileInfo, GrepMatch } from 'deepagents'

import { orFault } from './errors.ts'
import { mediaTypeOf } from './kinds.ts'

/** Limit of matching lines of a search without `maxCount`. */
const defaultMatches = 1_000
/** Limit of files of one glob. */
const mostFiles = 10_000

type Finding = Pick<BackendProtocolV2, 'ls' | 'glob' | 'grep'>

export function createFinding(workspace: Workspace, globPaths: 'absolute' | 'relative'): Finding {
  return {
    ls: (path) =>
      orFault(path, async () => {
        const files: FileInfo[] = []
        try {
          for await (const entry of workspace.list(path, { details: true })) files.push(await infoOf(workspace, entry))
        } catch (error) {
          // deepagents lists a missing directory as empty
          if (!isWorkspaceError(error, 'ENOENT')) throw error
        }
        return { files: files.sort(byPath) }
      }),
    glob: (pattern, path = workspace.root) =>
      orFault(path, async () => {
        const base = await ifThere(workspace.realPath(path))
        if (base === undefined) return { files: [], truncated: false }
        const files: FileInfo[] = []
        for await (const entry of workspace.glob(boundTo(pattern, base), { in: base, maxMatches: mostFiles + 1 })) {
          const info = await infoOf(workspace, entry, base)
          // other tools resolve relative paths at the workspace's root, which is wrong for the base `/` above that root
          const isRelative = globPaths === 'relative' && !(base === '/' && workspace.root !== '/')
          files.push(isRelative ? { ...info, path: info.path.slice(base === '/' ? 1 : base.length + 1) } : info)
        }
        return { files: files.slice(0, mostFiles).sort(byPath), truncated: files.length > mostFiles }
      }),
    grep: (pattern, path, glob, maxCount) =>
      orFault(path ?? workspace.root, async () => {
        const most = Math.max(0, Math.floor(maxCount ?? defaultMatches))
        const matches: GrepMatch[] = []
        try {
          const options = { in: path ?? workspace.root, glob: glob ?? undefined, maxHits: most + 1 }
          for await (const { path: file, line, text } of workspace.search(pattern, options)) {
            if (mediaTypeOf(file) === undefined) matches.push({ path: file, line, text })
          }
        } catch (error) {
          if (!isWorkspaceError(error, 'ENOENT')) throw error
        }
        const truncated = matches.length > most
        return { matches: matches.slice(0, most), ...(truncated && { truncated }) }
      }),
  }
}

/** Binds a pattern to the base: in deepagents, `*.md` matches only entries of the base itself. */
function boundTo(pattern: string, base: string): string {
  const inside = base !== '/' && pattern.startsWith(`${base}/`) ? pattern.slice(base.length) : pattern
  return inside.startsWith('/') ? inside : `/${inside.replace(/^(?:\.\/)+/u, '')}`
}

/** Describes an entry; for a link, its target. A directory's path ends with a slash, except in a glob. */
async function infoOf(workspace: Workspace, entry: WorkspaceEntry, globBase?: string): Promise<FileInfo> {
  const { path, type } = entry
  const needsStat = type === 'symlink' || entry.modifiedAt === undefined
  const found = needsStat
    ? // show a link that cannot be followed as a link
      await ifThere(workspace.stat(path, { followLinks: true })).catch(() => undefined)
    : undefined
  const isDirectory = (found?.type ?? type) === 'directory'
  const modifiedAt = found?.modifiedAt ?? entry.modifiedAt
  return {
    path: isDirectory && globBase === undefined ? `${path}/` : path,
    is_dir: isDirectory,
    size: isDirectory ? 0 : (found?.size ?? entry.size ?? 0),
    ...(modifiedAt !== undefined && { modified_at: new Date(modifiedAt).toISOString() }),
  }
}

function byPath(one: FileInfo, two: FileInfo): number {
  return one.path < two.path ? -1 : 1
}
