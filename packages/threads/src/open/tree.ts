import { isWorkspaceError } from '@ws/core'
import { parseMountPath, type MountPath, type SignalOption, type StorageAdapter } from '@ws/core/adapter'

import { checkId } from '../layout/ids.ts'
import { fill, type Layout } from '../layout/layout.ts'
import type { DeletedThread } from '../types.ts'

export function treeOf(layout: Layout, threadId: string): MountPath {
  return parseMountPath(`/${fill(layout.threads, { thread_id: threadId })}`, 'threads')
}

export function ticketTreeOf(layout: Layout, ticketId: string): MountPath {
  return parseMountPath(`/${fill(layout.tickets, { ticket_id: ticketId })}`, 'threads')
}

/** Ids of all threads in a store. */
export async function* listThreads(
  store: StorageAdapter,
  layout: Layout,
  { signal }: SignalOption,
): AsyncGenerator<string, undefined> {
  const [before = '', after = ''] = layout.threads.split('{thread_id}')
  const parent = parseMountPath(`/${before}`, 'listThreads')
  try {
    for await (const { name, type } of store.list(parent, { signal })) {
      if (type !== 'directory' || !isId(name)) continue
      if (after === '' || (await isDirectory(store, treeOf(layout, name)))) yield name
    }
  } catch (error) {
    // a store in which there is no thread yet
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

export async function isDirectory(store: StorageAdapter, path: MountPath): Promise<boolean> {
  try {
    return (await store.stat(path)).type === 'directory'
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return false
    throw error
  }
}

/** Counts a thread's tree. */
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
