import { paths, type TransferResult, type Version } from '@ws/core'
import type { MountPath, AdapterOptions } from '@ws/core/adapter'

import { type Handle, release } from '../confine/handle.ts'
import { nameOf, openParent } from '../confine/open.ts'
import { isSameEntry, versionOf } from '../confine/status.ts'
import { type Target, type Task, targetOf } from '../confine/task.ts'
import { contractFailure, nativeCode, translate } from '../errors.ts'
import type { Status } from '../host/calls.ts'
import { under } from '../host/name.ts'
import { isWithoutLinks } from './fresh-file.ts'
import { withLocks } from './locks.ts'
import { openParentOf, refuseRoot } from './parents.ts'
import { checkCondition, conflict, lookAtTarget } from './target.ts'

type MoveOptions = AdapterOptions.Move

interface MoveEnd {
  readonly target: Target
  readonly parent: Handle
}

export async function moveEntry(task: Task, destinationPath: MountPath, options: MoveOptions): Promise<TransferResult> {
  const source = targetOf(task, task.path, 'source')
  const destination = targetOf(task, destinationPath, 'destination')
  refuseRoot(source) // onto itself
  const opened: Handle[] = []
  try {
    const from = { target: source, parent: await openParent(task, source) }
    opened.push(from.parent)
    await checkSource(task, from, destination, options)
    const to = { target: destination, parent: await openParentOf(task, destination, options.parents === true) }
    opened.push(to.parent)
    const { tree } = task
    return await withLocks([tree.hostPath(source.path), tree.hostPath(destination.path)], () =>
      moveBetween(task, from, to, options),
    )
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'EISDIR') throw contractFailure(destination, 'directoryInTheWay', error)
    if (code === 'ENOTDIR') throw contractFailure(destination, 'fileInTheWay', error)
    throw code === 'ENOENT' ? translate(error, source) : translate(error, destination)
  } finally {
    for (const handle of opened) await release(task, handle)
  }
}

async function checkSource(task: Task, { target, parent }: MoveEnd, destination: Target, options: MoveOptions) {
  const found = await lookAtTarget(task, parent, target)
  if (found === undefined) throw contractFailure(target, 'ENOENT')
  checkCondition(target, options.ifSource, found)
  if (found.isDirectory() && destination.path !== target.path && paths.isWithin(destination.path, target.path)) {
    throw contractFailure(destination, 'intoItself')
  }
  return found
}

async function moveBetween(task: Task, from: MoveEnd, to: MoveEnd, options: MoveOptions): Promise<TransferResult> {
  const moved = await checkSource(task, from, to.target, options)
  const replaced = await lookAtTarget(task, to.parent, to.target)
  checkCondition(to.target, options.ifDestination, replaced)
  task.signal?.throwIfAborted()
  if (from.target.path === to.target.path) return { version: versionOf(moved) }
  const sameEntry = replaced !== undefined && isSameEntry(moved, replaced)
  const isOtherSpelling = sameEntry && !task.tree.caseSensitive && isSpelledAlike(from.target, to.target)
  if (replaced !== undefined && options.overwrite !== true && !isOtherSpelling) {
    throw contractFailure(to.target, 'EEXIST')
  }
  if (sameEntry && !isOtherSpelling && !moved.isDirectory()) {
    // for two hard links of one file, rename(2) does nothing and keeps both names
    await task.calls.unlink(under(from.parent.self, nameOf(from.target)))
  } else if (replaced === undefined && options.overwrite !== true && !moved.isDirectory()) {
    await moveWithoutReplacing(task, from, to, moved, options)
  } else {
    await rename(task, from, to)
  }
  return { version: await versionAt(task, to) }
}

function isSpelledAlike(one: Target, other: Target): boolean {
  return one.path.normalize().toLowerCase() === other.path.normalize().toLowerCase()
}

async function rename({ calls }: Task, from: MoveEnd, to: MoveEnd): Promise<void> {
  await calls.rename(under(from.parent.self, nameOf(from.target)), under(to.parent.self, nameOf(to.target)))
}

/** Moves an entry that must replace nothing. rename(2) would replace a new entry; link(2) does not. Not for directories. */
async function moveWithoutReplacing(task: Task, from: MoveEnd, to: MoveEnd, moved: Status, options: MoveOptions) {
  const { calls } = task
  const oldName = under(from.parent.self, nameOf(from.target))
  const newName = under(to.parent.self, nameOf(to.target))
  try {
    await calls.link(oldName, newName)
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'EEXIST' && options.ifDestination === 'absent') throw conflict(to.target)
    if (code === 'EACCES' || isWithoutLinks(error)) return await rename(task, from, to)
    throw error
  }
  // A new file of another process at the old name must not be removed.
  const now = await lookAtTarget(task, from.parent, from.target)
  if (now === undefined || !isSameEntry(now, moved)) return
  try {
    await calls.unlink(oldName)
  } catch (error) {
    await calls.unlink(newName) // the move has failed: the new name must not remain
    throw error
  }
}

async function versionAt(task: Task, { parent, target }: MoveEnd): Promise<Version | undefined> {
  const found = await lookAtTarget(task, parent, target)
  return found === undefined ? undefined : versionOf(found)
}
