import type { TransferResult } from '@ws/core'
import type { MountPath, AdapterOptions } from '@ws/core/adapter'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { copyLeaf, moveLeaf } from './leaf.ts'
import { assertEmpty, checkKinds, planTransfer } from './plan.ts'
import { copyTree, deleteCopied } from './tree.ts'

export async function copy(
  store: Store,
  from: MountPath,
  to: MountPath,
  options: AdapterOptions.Copy,
  task: Task,
): Promise<TransferResult> {
  const plan = await planTransfer(store, from, to, options, task)
  if (from === to) throw failure('ontoItself', 'copy', to)
  if (plan.source.type !== 'directory') {
    checkKinds(plan, to, 'copy')
    return copyLeaf(store, from, to, plan, options, task)
  }
  if (options.recursive !== true) throw failure('EISDIR', 'copy', from)
  if (plan.destination !== undefined && options.overwrite !== true) throw failure('EEXIST', 'copy', to)
  checkKinds(plan, to, 'copy')
  await copyTree(store, from, to, { merge: plan.destination !== undefined, operation: 'copy' }, task)
  return {}
}

/** Copies, then deletes: readers see both entries for a while. */
export async function move(
  store: Store,
  from: MountPath,
  to: MountPath,
  options: AdapterOptions.Move,
  task: Task,
): Promise<TransferResult> {
  const plan = await planTransfer(store, from, to, options, task)
  if (from === to) return { version: plan.source.stat.version }
  checkKinds(plan, to, 'move')
  if (plan.source.type !== 'directory') return moveLeaf(store, from, to, plan, options, task)
  if (plan.destination !== undefined) await assertEmpty(store, to, task)
  const copied = await copyTree(store, from, to, { merge: false, operation: 'move' }, task)
  await deleteCopied(store, from, to, copied, task)
  return {}
}
