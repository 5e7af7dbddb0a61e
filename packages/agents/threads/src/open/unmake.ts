import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'

import type { Lease } from '../lease/types.ts'
import { fence } from './fence.ts'
import { mountPointsOf, type ThreadPlace } from './mounts.ts'
import { kindOf, treeOf } from './tree.ts'

/** The lease's note that contains the exact thread id, because lease names ignore case. If the note exists, the thread's tree exists. */
export const idNote = 'id'

/** True if a directory exists without an object in it. */
export const hasDirectories = ({ capabilities }: StorageAdapter): boolean =>
  capabilities.hostPath || capabilities.enforcesHierarchy || capabilities.keepsEmptyDirectories

/** True if the thread was never opened. Where a check costs a request, the notes alone decide. */
export async function isNew({ store, layout, threadId }: ThreadPlace, lease: Lease | undefined): Promise<boolean> {
  if (lease?.notes[idNote] !== undefined) return false
  return !hasDirectories(store) || (await kindOf(store, treeOf(layout, threadId))) === 'nothing'
}

export async function unmake(place: ThreadPlace, lease: Lease | undefined): Promise<void> {
  const store = fence(place.store, { lease, onChange: () => undefined, onFlush: () => undefined })
  const tree = treeOf(place.layout, place.threadId)
  const points = new Set(mountPointsOf(place).flatMap(withParents))
  const made = [...points].map((point) => paths.parseMount(`${tree}${point}`, 'openThread'))
  for (const path of [...made.toSorted((a, b) => b.length - a.length), tree])
    await store.delete(path).catch(() => undefined) // a directory with files stays
  await lease?.writeNotes({})
}

const withParents = (path: string): string[] =>
  path === '' ? [] : [path, ...withParents(path.slice(0, path.lastIndexOf('/')))]
