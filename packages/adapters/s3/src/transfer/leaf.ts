import { isWorkspaceError, type TransferResult } from '@ws/core'
import { rewriteError, type MountPath, type AdapterOptions } from '@ws/core/adapter'
import type { Task } from '../client/requests.ts'
import { deleteObject, deleteVersion } from '../delete/objects.ts'
import { failure } from '../errors.ts'
import { readLink } from '../links/find.ts'
import type { Resolved } from '../files/lookup.ts'
import type { ObjectState } from '../headers/stat.ts'
import type { Store } from '../store/store.ts'
import { copyObject } from './copy-object.ts'
import type { Plan } from './plan.ts'

export async function copyLeaf(
  store: Store,
  from: MountPath,
  to: MountPath,
  { source, destination }: Plan,
  { overwrite = false, ifDestination }: AdapterOptions.Copy,
  task: Task,
): Promise<TransferResult> {
  const { keys } = store
  const isLink = source.type === 'symlink'
  const state = await stateOfLeaf(store, from, source, task)
  // a link and a file at one path are two different objects, so no condition can apply if one replaces the other
  const sameObject = destination === undefined || (destination.type === 'symlink') === isLink
  const condition = !sameObject ? undefined : (ifDestination ?? (overwrite ? undefined : 'absent'))
  const copy = {
    source: from,
    sourceKey: isLink ? keys.linkKey(from) : keys.key(from),
    state,
    destination: to,
    destinationKey: isLink ? keys.linkKey(to) : keys.key(to),
    condition,
  }
  let version: string
  try {
    version = await copyObject(store, copy, task)
  } catch (error) {
    const raced = isWorkspaceError(error, 'ECONFLICT') && error.path === to && ifDestination === undefined && !overwrite
    throw raced ? failure('EEXIST', task.operation, to) : error
  }
  if (!sameObject) {
    const replaced = destination?.type === 'file' ? destination.state : undefined
    await deleteObject(store, isLink ? keys.key(to) : keys.linkKey(to), task, replaced)
  }
  store.hints.addAbove(to)
  return { version }
}

/** Copies, then deletes an unchanged source. */
export async function moveLeaf(
  store: Store,
  from: MountPath,
  to: MountPath,
  plan: Plan,
  options: AdapterOptions.Copy,
  task: Task,
): Promise<TransferResult> {
  const result = await copyLeaf(store, from, to, plan, options, task)
  const isLink = plan.source.type === 'symlink'
  const key = isLink ? store.keys.linkKey(from) : store.keys.key(from)
  try {
    await deleteVersion(store, key, plan.source.stat.version, { ...task, path: from })
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return result // another program deleted it
    const state = `it was copied to \`${to}\`; the source is still there: compare the two, and delete one`
    const partial = { completed: [to], completedCount: 1, failedAt: from, state }
    if (!isWorkspaceError(error)) throw error
    throw rewriteError(error, { reason: `was changed while it was moved (${state})`, partial })
  }
  return result
}

async function stateOfLeaf(store: Store, path: MountPath, found: Resolved, task: Task): Promise<ObjectState> {
  if (found.type === 'file') return found.state
  const link = await readLink(store, path, task)
  if (link === undefined) throw failure('ENOENT', task.operation, path)
  return link.state
}
