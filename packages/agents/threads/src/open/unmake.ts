import { parseMountPath, type StorageAdapter } from '@ws/core/adapter'

import type { Lease } from '../lease/types.ts'
import { fence } from './fence.ts'
import { mountPointsOf, type ThreadPlace } from './mounts.ts'
import { kindOf, treeOf } from './tree.ts'

/** The note beside a lease that holds the exact id, since leases are named by the folded one. The tree is there then. */
export const idNote = 'id'

/** Directories of their own are there without an object in them. */
export const hasDirectories = ({ capabilities }: StorageAdapter): boolean =>
  capabilities.hostPath || capabilities.enforcesHierarchy || capabilities.keepsEmptyDirectories

/** The thread was never opened. Where a question costs a request, the notes alone say so. */
export async function isNew({ store, layout, threadId }: ThreadPlace, lease: Lease | undefined): Promise<boolean> {
  if (lease?.notes[idNote] !== undefined) return false
  return !hasDirectories(store) || (await kindOf(store, treeOf(layout, threadId))) === 'nothing'
}

/** Takes back a new thread that could not be opened, so that no list has it. A directory that holds something stays. */
export async function unmake(place: ThreadPlace, lease: Lease | undefined): Promise<void> {
  const store = fence(place.store, { lease, onChange: () => undefined, onFlush: () => undefined })
  const tree = treeOf(place.layout, place.threadId)
  const points = new Set(mountPointsOf(place).flatMap(withParents))
  const paths = [...points].map((point) => parseMountPath(`${tree}${point}`, 'openThread'))
  for (const path of [...paths.toSorted((a, b) => b.length - a.length), tree])
    await store.delete(path).catch(() => undefined)
  await lease?.writeNotes({})
}

const withParents = (path: string): string[] =>
  path === '' ? [] : [path, ...withParents(path.slice(0, path.lastIndexOf('/')))]
