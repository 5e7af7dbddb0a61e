import { isWorkspaceError, WorkspaceError } from '@ws/core'
import { LinkSignal, type MountPath } from '@ws/core/adapter'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { targetOf } from '../links/find.ts'
import type { Store } from '../store/store.ts'
import { lookUp } from '../files/lookup.ts'
import { copyObject } from './copy-object.ts'

/** Limit of lookups for a file that other writers keep changing. */
const attempts = 20

export interface FileAttributes {
  readonly mode?: number | undefined
  /** Milliseconds since the epoch. */
  readonly modifiedAt?: number | undefined
}

/** True if the store checks both sides of a copy: a copy onto itself then undoes no foreign write. */
export function keepsAttributes({ dialect }: Store): boolean {
  return dialect.conditionalCopySource && dialect.conditionalCopyDestination
}

/** Copies an object onto itself with new metadata if it is unchanged. Starts again after another write. */
export async function setAttributes(
  store: Store,
  path: MountPath,
  attributes: FileAttributes,
  task: Task,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await lookUp(store, path, task)
    if (found === undefined) throw failure('ENOENT', task.operation, path)
    if (found.type === 'symlink') {
      const target = targetOf({ at: path, target: found.target }, task.operation, path)
      throw new LinkSignal({ at: path, target, rest: '' })
    }
    if (found.type === 'directory')
      throw notKept(task, 'is a directory, for which the store keeps neither bits nor a time')
    const { state } = found
    if (state.stat.size > store.copyPartBytes) {
      throw notKept(task, 'is too large: the store cannot copy it in one request, which a safe change needs')
    }
    const key = store.keys.key(path)
    const changed = { ...state, stat: { ...state.stat, ...attributes } }
    const copy = { source: path, sourceKey: key, state: changed, destination: path, destinationKey: key }
    try {
      await copyObject(store, { ...copy, condition: state.stat.version }, task)
      return
    } catch (error) {
      if (attempt === attempts || !isWorkspaceError(error, 'ECONFLICT')) throw error
      task.signal?.throwIfAborted()
    }
  }
}

function notKept({ operation, path }: Task, reason: string): WorkspaceError {
  return new WorkspaceError({ code: 'ENOTSUP', operation, path, reason })
}
