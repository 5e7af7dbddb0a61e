import { paths, type TransferResult } from '@ws/core'
import type { MountPath, AdapterOptions } from '@ws/core/adapter'

import { type Handle, openChild, release, statusOf } from '../confine/handle.ts'
import { nameOf, notAFile, openParent } from '../confine/open.ts'
import { isReserved } from '../confine/hidden.ts'
import { isSameEntry, versionOf } from '../confine/status.ts'
import { type Target, type Task, targetOf } from '../confine/task.ts'
import { contractFailure, nativeCode, translate } from '../errors.ts'
import type { Status } from '../host/calls.ts'
import { type CopiedEntry, checkReplaceable, copyLink, copyRegularFile } from './copy-entry.ts'
import { CopyProgress, copyTree } from './copy-tree.ts'
import { openParentOf, refuseRoot } from './parents.ts'
import { checkCondition, conflict, lookAtTarget } from './target.ts'

type CopyOptions = AdapterOptions.Copy

export async function copyEntry(task: Task, destinationPath: MountPath, options: CopyOptions): Promise<TransferResult> {
  const source = targetOf(task, task.path, 'source')
  const destination = targetOf(task, destinationPath, 'destination')
  refuseRoot(destination)
  if (source.path === '/') throw contractFailure(destination, 'intoItself')
  const opened: Handle[] = []
  try {
    const from = await openParent(task, source)
    opened.push(from)
    const handle = await openChild(task, from, nameOf(source))
    opened.push(handle)
    const status = await statusOf(task, handle)
    if (isReserved(status, handle.self)) throw contractFailure(source, 'ENOENT')
    checkSource(source, destination, status, options)

    const to = await openParentOf(task, destination, options.parents === true)
    opened.push(to)
    const found = await lookAtTarget(task, to, destination)
    checkDestination(destination, status, found, options)
    task.signal?.throwIfAborted()

    const entry: CopiedEntry = {
      source: { parent: from, name: nameOf(source), handle, status, path: source.path },
      destination: { parent: to, name: nameOf(destination), path: destination.path, found },
      options,
    }
    if (status.isDirectory()) {
      opened.splice(opened.indexOf(handle), 1)
      await copyTree(task, entry, new CopyProgress(task))
    } else if (status.isSymbolicLink()) await copyLink(task, entry)
    else await copyRegularFile(task, entry)
    const copied = await lookAtTarget(task, to, destination)
    return { version: copied === undefined ? undefined : versionOf(copied) }
  } catch (error) {
    throw explain(error, source, destination, options)
  } finally {
    for (const handle of opened) await release(task, handle)
  }
}

function explain(error: unknown, source: Target, destination: Target, { ifDestination }: CopyOptions): unknown {
  const code = nativeCode(error)
  if (code === 'EEXIST' && ifDestination === 'absent') return conflict(destination)
  // A lease of another process (EAGAIN) is always on the source.
  return code === 'ENOENT' || code === 'EAGAIN' ? translate(error, source) : translate(error, destination)
}

function checkSource(source: Target, destination: Target, status: Status, options: CopyOptions): void {
  checkCondition(source, options.ifSource, status)
  if (source.path === destination.path) throw contractFailure(destination, 'ontoItself')
  if (status.isDirectory()) {
    if (options.recursive !== true) {
      throw contractFailure(source, 'EISDIR')
    }
    if (paths.isWithin(destination.path, source.path)) throw contractFailure(destination, 'intoItself')
  } else if (!status.isFile() && !status.isSymbolicLink()) throw notAFile(source)
}

function checkDestination(
  destination: Target,
  status: Status,
  found: Status | undefined,
  { ifDestination, overwrite }: CopyOptions,
): void {
  checkCondition(destination, ifDestination, found)
  if (found === undefined) return
  if (overwrite !== true) {
    throw contractFailure(destination, 'EEXIST')
  }
  if (isSameEntry(status, found)) throw contractFailure(destination, 'ontoItself') // two hard links of one file
  checkReplaceable(destination, status, found)
}
