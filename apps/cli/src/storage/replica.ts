import { join } from 'node:path'

import type { ReplicaAdapter, ReplicaEvent } from '@ws/adapter-replica'
import type { Owner, StorageAdapter } from '@ws/core/adapter'

import { loadOptional } from '../optional/load.ts'
import { copyOf, isBucket, type StorageSettings } from './settings.ts'

interface CopyOptions {
  readonly store: StorageAdapter | (() => Promise<StorageAdapter>)
  /** A host path. Default: a scratch directory. */
  readonly directory: string | undefined
  readonly owner: Owner | undefined
}

/** A copy of a store on this machine. Its conflicts, its failures and the progress of a long copy go to standard error. */
export async function openCopy({ store, directory, owner }: CopyOptions): Promise<ReplicaAdapter> {
  const { createReplicaAdapter } = await loadOptional('@ws/adapter-replica')
  return await createReplicaAdapter({
    store,
    directory,
    owner,
    onEvent: (event) => {
      const text = describe(event)
      if (text !== undefined) process.stderr.write(`ws: replica: ${text}\n`)
    },
  })
}

/** The copies of threads, each in a directory of its own; `undefined` where the settings name none. */
export function copiesOfThreads(storage: StorageSettings, owner: Owner | undefined) {
  const replica = copyOf(storage)
  if (replica === undefined) return undefined
  return ({ store, threadId }: { readonly store: StorageAdapter; readonly threadId?: string | undefined }) =>
    openCopy({ store, directory: threadId === undefined ? undefined : join(replica, threadId), owner })
}

/** The same storage without its copy. */
export function withoutCopy(storage: StorageSettings): StorageSettings {
  return isBucket(storage) ? { ...storage, replica: undefined } : storage
}

function describe(event: ReplicaEvent): string | undefined {
  switch (event.event) {
    case 'conflict':
      return `${event.path} was changed here and in the store; the version of this machine is ${event.kept}`
    case 'left-out':
      return `${event.path} is not copied: ${event.reason}`
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
