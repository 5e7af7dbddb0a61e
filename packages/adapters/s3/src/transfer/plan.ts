import { paths } from '@ws/core'
import type { MountPath, AdapterOptions } from '@ws/core/adapter'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { pagesOf } from '../listing/pages.ts'
import { lookUp, type Resolved } from '../files/lookup.ts'
import type { Store } from '../store/store.ts'

export interface Plan {
  readonly source: Resolved
  readonly destination: Resolved | undefined
}

/** Looks up both ends, and makes the common checks. Errors of the source come first. */
export async function planTransfer(
  store: Store,
  from: MountPath,
  to: MountPath,
  { ifSource, ifDestination, overwrite = false }: AdapterOptions.Copy,
  task: Task,
): Promise<Plan> {
  const { operation } = task
  const [looked, there] = await Promise.allSettled([
    lookUp(store, from, { ...task, argument: 'source' }),
    lookUp(store, to, { ...task, argument: 'destination' }),
  ])
  if (looked.status === 'rejected') throw looked.reason
  const source = looked.value
  if (source === undefined) throw failure('ENOENT', operation, from)
  if (ifSource !== undefined && ifSource !== source.stat.version) throw failure('ECONFLICT', operation, from)
  if (source.type === 'directory' && to !== from && paths.isWithin(to, from)) {
    throw failure('intoItself', operation, to)
  }
  if (there.status === 'rejected') throw there.reason
  const destination = there.value
  if (ifDestination !== undefined && ifDestination !== (destination?.stat.version ?? 'absent')) {
    throw failure('ECONFLICT', operation, to)
  }
  if (from === to) return { source, destination }
  if (operation === 'copy' && to === '/') throw failure('EBUSY', operation, to)
  if (destination !== undefined && !overwrite) {
    // errors of the source come first
    if (operation === 'copy' && source.type === 'directory') return { source, destination }
    throw failure('EEXIST', operation, to)
  }
  return { source, destination }
}

/** Refuses a file over a directory, and the reverse. */
export function checkKinds({ source, destination }: Plan, to: MountPath, operation: string): void {
  if (destination === undefined) return
  if (destination.type === 'directory' && source.type !== 'directory') throw failure('directoryInTheWay', operation, to)
  if (destination.type !== 'directory' && source.type === 'directory') throw failure('fileInTheWay', operation, to)
}

export async function assertEmpty(store: Store, path: MountPath, task: Task): Promise<void> {
  const prefix = store.keys.directoryKey(path)
  for await (const keys of pagesOf(store, { prefix, flat: false, pageSize: 2 }, task)) {
    if (keys.some(({ rest }) => rest !== '')) throw failure('ENOTEMPTY', task.operation, path)
    return
  }
}
