import { isWorkspaceError, paths, WorkspaceError } from '@ws/core'
import { LinkSignal, type MountPath, type SignalOption, type StorageAdapter } from '@ws/core/adapter'

import { checkId, foldId } from '../layout/ids.ts'
import { expandTemplate, type Layout } from '../layout/layout.ts'
import type { DeletedThread } from '../types.ts'

export function treeOf(layout: Layout, threadId: string): MountPath {
  return paths.parseMount(`/${expandTemplate(layout.threads, { thread_id: threadId })}`, 'threads')
}

export function ticketTreeOf(layout: Layout, ticketId: string): MountPath {
  return paths.parseMount(`/${expandTemplate(layout.tickets, { ticket_id: ticketId })}`, 'threads')
}

/** The directory in which the copies of a thread keep packs, which save requests. */
export function packsOf({ control }: Layout, threadId: string): MountPath {
  return paths.parseMount(`/${control}/packs/${foldId(threadId)}`, 'threads')
}

export async function* listThreads(
  store: StorageAdapter,
  layout: Layout,
  { signal }: SignalOption,
): AsyncGenerator<string, undefined> {
  const [before = '', after = ''] = layout.threads.split('{thread_id}')
  const parent = paths.parseMount(`/${before}`, 'listThreads')
  try {
    for await (const { name, type } of store.list(parent, { signal })) {
      if (type !== 'directory' || !isId(name)) continue
      if (after === '' || (await kindOf(store, treeOf(layout, name))) === 'directory') yield name
    }
  } catch (error) {
    // no thread exists in the store
    if (!isWorkspaceError(error, 'ENOENT')) throw error
  }
  return undefined
}

function isId(name: string): boolean {
  try {
    checkId('listThreads', 'thread', name)
    return true
  } catch {
    return false
  }
}

/** The type of the entry. `other`: a file, or a link at the path or in a directory above. */
export async function kindOf(
  store: StorageAdapter,
  path: MountPath,
  options?: SignalOption,
): Promise<'directory' | 'nothing' | 'other'> {
  try {
    return (await store.stat(path, options)).type === 'directory' ? 'directory' : 'other'
  } catch (error) {
    if (error instanceof LinkSignal || isWorkspaceError(error, 'ENOTDIR')) return 'other'
    if (isWorkspaceError(error, 'ENOENT')) return 'nothing'
    throw error
  }
}

export function otherError(operation: string, threadId: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ENOTDIR',
    operation,
    path: threadId,
    reason: 'is a file or a link in the store, or is below one: a thread is a directory',
    remedy: 'look at the store, move that away, or choose another id',
  })
}

export async function measure(
  store: StorageAdapter,
  tree: MountPath,
  { signal }: SignalOption,
): Promise<DeletedThread> {
  let entries = 0
  let bytes = 0
  for await (const { size } of store.list(tree, { recursive: true, details: true, signal })) {
    entries += 1
    bytes += size ?? 0
  }
  return { entries, bytes }
}
