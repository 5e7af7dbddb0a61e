import { join } from 'node:path'

import type { ReplicaAdapter, ReplicaEvent } from '@ws/adapter-replica'
import type { Owner, StorageAdapter } from '@ws/core/adapter'

import { loadOptional } from '../optional/load.ts'
import { nameOn } from '../terminal/escape.ts'
import { complainTo } from '../terminal/wrap.ts'
import { copyOf, isBucket, type StorageSettings } from './settings.ts'

interface CopyOptions {
  readonly store: StorageAdapter | (() => Promise<StorageAdapter>)
  /** A host path. Default: a scratch directory. */
  readonly directory: string | undefined
  readonly owner: Owner | undefined
}

/** A copy of a store on this machine. Conflicts, failures and progress go to standard error. */
export async function openCopy({ store, directory, owner }: CopyOptions): Promise<ReplicaAdapter> {
  const { createReplicaAdapter } = await loadOptional('@ws/adapter-replica')
  return await createReplicaAdapter({
    store,
    directory,
    owner,
    onEvent: (event) => {
      const text = messageFor(event)
      if (text !== undefined) complainTo(process.stderr, `replica: ${text}`)
    },
  })
}

/** Makes a function that copies threads, each to its own directory; `undefined` without a setting. */
export function copiesOfThreads(storage: StorageSettings, owner: Owner | undefined) {
  const replica = copyOf(storage)
  if (replica === undefined) return undefined
  return ({ store, threadId }: { readonly store: StorageAdapter; readonly threadId?: string | undefined }) =>
    openCopy({ store, directory: threadId === undefined ? undefined : join(replica, threadId), owner })
}

export function withoutCopy(storage: StorageSettings): StorageSettings {
  return isBucket(storage) ? { ...storage, replica: undefined } : storage
}

function messageFor(event: ReplicaEvent): string | undefined {
  const shown = (name: string) => nameOn(process.stderr, name)
  switch (event.event) {
    case 'conflict':
      return `${shown(event.path)} was changed here and in the store; the version of this machine is ${shown(event.kept)}`
    case 'left-out':
      return `${shown(event.path)} is not copied: ${event.reason}`
    case 'copying': {
      const { copied, total } = event
      return copied.files < total.files ? `${copied.files} of ${total.files} files are copied` : undefined
    }
    case 'copy-failed':
      return `not all files are copied yet: ${event.error.reason}`
    case 'push-failed':
      return `changes are not in the store yet: ${event.error.reason}`
  }
}
