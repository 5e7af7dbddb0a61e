import { isWithin, isWorkspaceError, parentPath, quotePath } from '@ws/core'
import type { Workspace, WorkspaceEntry, VirtualPath } from '@ws/core'

import type { NextOperation, ProblemOptions } from '../answers/problem.ts'
import { nearestEntry } from '../arguments/nearest.ts'

/** Names of a directory that are compared: one page of a bucket. */
const mostNames = 1000

type Way = Required<Pick<ProblemOptions, 'remedy' | 'next' | 'isSeen'>>

interface WayOptions {
  /** Above it no listing is made. */
  readonly within: VirtualPath
  readonly signal: AbortSignal | undefined
  /** The path, or a part of it, is a file. */
  readonly isFile: boolean
}

/**
 * The way on from a path that is not there: the nearest name, from the listings of its directory and of the one above. So it costs
 * the same in a tree of any size. `next` names what the listings showed.
 */
export async function wayOn(
  workspace: Workspace,
  missing: string,
  { within, signal, isFile }: WayOptions,
): Promise<Way> {
  const path = missing.replace(/(?<=[^/])\/+$/u, '') as VirtualPath
  if (!path.startsWith('/')) return lookAround
  const parent = parentPath(path)
  const above = parentPath(parent)
  const both = isFile ? [parent, above] : [above, parent]
  const directories = above === parent || !isWithin(above, within) ? [parent] : both
  for (const directory of directories) {
    const names = await namesIn(workspace, directory, signal)
    if (names === 'missing') return lookAround
    if (names === undefined) continue
    const wanted = path.slice(directory === '/' ? 1 : directory.length + 1).split('/')[0] ?? ''
    const found = names.get(wanted)
    if (found !== undefined && found.type !== 'file' && directory !== parent) continue
    if (found?.type === 'file') {
      const subject = found.path === path ? 'it' : quotePath(found.path)
      // it may be binary, and is not only seen
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

/** `undefined` for a name that may not be read, or that leads elsewhere. */
async function wayTo(workspace: Workspace, { path, type }: WorkspaceEntry): Promise<Way | undefined> {
  if (type !== 'file' && type !== 'directory') return undefined
  const operation = type === 'file' ? 'read' : 'list'
  if ((await workspace.explain({ operation, path })).effect !== 'allow') return undefined
  return wayOf(`the nearest is ${quotePath(path)}; ${operation} it`, type === 'file' ? readOf(path) : listOf(path))
}

/** The first names of a directory; `undefined` where they are not to be seen. */
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
