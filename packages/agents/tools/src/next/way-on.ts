import { isWorkspaceError, paths, quotePath, type VirtualPath, type Workspace, type WorkspaceEntry } from '@ws/core'

import type { NextOperation, ProblemOptions } from '../answers/problem.ts'
import { nearestEntry } from '../arguments/nearest.ts'

/** Names compared in a directory: one page of a bucket. */
const mostNames = 1000

type Way = Required<Pick<ProblemOptions, 'remedy' | 'next' | 'isSeen'>>

interface WayOptions {
  /** No directory above this path is listed. */
  readonly within: VirtualPath
  readonly signal: AbortSignal | undefined
  readonly isFile: boolean
}

/** Suggests the nearest name in the path's directory or its parent. The cost does not depend on the tree's size. */
export async function wayOn(
  workspace: Workspace,
  missing: string,
  { within, signal, isFile }: WayOptions,
): Promise<Way> {
  const path = missing.replace(/(?<=[^/])\/+$/u, '') as VirtualPath
  if (!path.startsWith('/')) return lookAround
  const parent = paths.parent(path)
  const above = paths.parent(parent)
  const both = isFile ? [parent, above] : [above, parent]
  const directories = above === parent || !paths.isWithin(above, within) ? [parent] : both
  for (const directory of directories) {
    const names = await namesIn(workspace, directory, signal)
    if (names === 'missing') return lookAround
    if (names === undefined) continue
    const wanted = path.slice(directory === '/' ? 1 : directory.length + 1).split('/')[0] ?? ''
    const found = names.get(wanted)
    if (found !== undefined && found.type !== 'file' && directory !== parent) continue
    if (found?.type === 'file') {
      const subject = found.path === path ? 'it' : quotePath(found.path)
      // the file may be binary, so try out the read
      return { ...wayOf(`${subject} is a file; read it`, readOf(found.path)), isSeen: false }
    }
    const near = found === undefined ? names.get(nearestEntry(wanted, [...names.keys()]) ?? '') : undefined
    const way = near && (await wayTo(workspace, near))
    if (way !== undefined) return way
    const gone = directory === parent ? '' : `there is no ${quotePath(parent)}; `
    return wayOf(`${gone}list ${quotePath(directory)}`, listOf(directory))
  }
  return lookAround
}

const wayOf = (remedy: string, next: NextOperation): Way => ({ remedy, next, isSeen: true })
const listOf = (path: string): NextOperation => ({ operation: 'list', arguments: { path, depth: 1 } })
const readOf = (path: string): NextOperation => ({ operation: 'read', arguments: { path } })

const lookAround = wayOf('its directory is not there either; list the root', listOf('.'))

/** `undefined` for an entry that may not be read, or that is neither a file nor a directory. */
async function wayTo(workspace: Workspace, { path, type }: WorkspaceEntry): Promise<Way | undefined> {
  if (type !== 'file' && type !== 'directory') return undefined
  const operation = type === 'file' ? 'read' : 'list'
  if ((await workspace.explain({ operation, path })).effect !== 'allow') return undefined
  return wayOf(`the nearest is ${quotePath(path)}; ${operation} it`, type === 'file' ? readOf(path) : listOf(path))
}

async function namesIn(
  workspace: Workspace,
  directory: VirtualPath,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, WorkspaceEntry> | 'missing' | undefined> {
  const names = new Map<string, WorkspaceEntry>()
  try {
    for await (const entry of workspace.list(directory, { signal })) {
      names.set(entry.name, entry)
      if (names.size === mostNames) break
    }
    return names
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return error.code === 'ENOENT' ? 'missing' : undefined
  }
}
