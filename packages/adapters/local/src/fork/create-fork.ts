import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import { WorkspaceError } from '@ws/core'
import type { AdapterOptions, Owner, StorageAdapter } from '@ws/core/adapter'

import { type Handle, handleOf, openChild, release, statusOf } from '../confine/handle.ts'
import { changing } from '../confine/open.ts'
import { permissionsOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { nativeCode } from '../errors.ts'
import { identityOf, pathOfDescriptor } from '../host/calls.ts'
import { anyDirectory } from '../host/constants.ts'
import { under } from '../host/name.ts'
import { ownUser } from '../root/owner.ts'
import { makePrivate, removePrivate } from '../root/private-directory.ts'
import { placeBeside, placesToFork } from '../root/scratch-places.ts'
import { CopyAll } from './copy-all.ts'
import { giveState } from './give-state.ts'

export interface ForkParts {
  /** The user that must reach a temporary copy. */
  readonly owner: Owner
  readonly sweep: (place: string) => Promise<void>
  readonly open: (root: string, onClose: (task: Task) => Promise<void>) => Promise<StorageAdapter>
}

const copyName = 'copy'

/** Copies the root in a directory that only this user can reach, then moves the copy to `directory` if that is given. */
export async function createFork(
  task: Task,
  { directory }: AdapterOptions.Fork,
  { owner, sweep, open }: ForkParts,
): Promise<StorageAdapter> {
  const { tree, operation } = task
  await tree.assertThere(task.calls, task)
  const source: Handle = { fd: tree.fd, self: tree.verified ? pathOfDescriptor(tree.fd) : tree.root }
  const status = await statusOf(task, source)
  const place = directory === undefined ? undefined : await placeOf(directory, tree.root)
  const places = place === undefined ? await placesToFork(tree.root, status.dev) : [placeBeside(place)]
  const making = { owner: ownUser(), operation, sweep, isClosed: place !== undefined }
  const above = await makePrivate(places, making)
  const parent = await openPlain(task, above)
  const identity = identityOf(await statusOf(task, parent))
  try {
    await task.calls.mkdir(under(parent.self, copyName), 0o777)
    const copy = await openChild(task, parent, copyName, { directory: true })
    try {
      const kept = permissionsOf(await statusOf(task, copy))
      await new CopyAll(task, source, copy, { status, kept }).run()
      task.signal?.throwIfAborted()
      if (place !== undefined) await moveTo(task, parent, place)
      await giveState(task, copy, status)
    } finally {
      await release(task, copy)
    }
    if (place === undefined) {
      if (ownUser().uid === 0) await task.calls.chown(parent.self, owner.uid, owner.gid)
      return await open(join(above, copyName), (closing) => removePrivate(closing, above, identity))
    }
  } catch (error) {
    const { calls, pooled, path } = task
    const cleaning: Task = { tree, operation, path, calls, pooled, signal: undefined } // an abort must not leave the copy
    await removePrivate(cleaning, above, identity).catch(() => undefined) // the first failure counts; a later start removes the rest
    throw error
  } finally {
    await release(task, parent)
  }
  await removePrivate(task, above, identity)
  return await open(place, async () => {})
}

async function openPlain(task: Task, path: string): Promise<Handle> {
  if (!task.tree.verified) return { fd: -1, self: path }
  const handle = handleOf(await task.calls.open(path, anyDirectory))
  if ((await task.calls.readlink(handle.self)).toString() === path) return handle
  await release(task, handle)
  throw changing(targetOf(task, task.path))
}

async function moveTo(task: Task, parent: Handle, place: string): Promise<void> {
  const into = await openPlain(task, dirname(place))
  try {
    await task.calls.rename(under(parent.self, copyName), under(into.self, basename(place)))
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOTEMPTY' || code === 'EEXIST') throw refused('holds something')
    if (code === 'ENOTDIR') throw refused('is not a directory')
    if (code === 'EBUSY') throw refused('is a mount point')
    throw error
  } finally {
    await release(task, into)
  }
}

/** The canonical path of the directory for a copy. It must be missing or empty, and outside the root. */
async function placeOf(directory: string, root: string): Promise<string> {
  const given = resolve(directory)
  let place: string
  try {
    place = await realpath(given).catch(async (error: unknown) => {
      if (nativeCode(error) !== 'ENOENT') throw error
      return join(await realpath(dirname(given)), basename(given))
    })
    if ((await namesIn(place)).length > 0) throw refused('holds something')
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOENT') throw refused('is to be made in a directory that does not exist')
    if (code === 'ENOTDIR') throw refused('is not a directory')
    throw error
  }
  if (`${place}/`.startsWith(root === '/' ? root : `${root}/`)) throw refused('lies in the root of the storage')
  return place
}

async function namesIn(place: string): Promise<string[]> {
  try {
    return await readdir(place)
  } catch (error) {
    if (nativeCode(error) === 'ENOENT') return []
    throw error
  }
}

function refused(reason: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'createFork',
    reason: `cannot be copied to \`directory\`, which ${reason}`,
    remedy: 'name a missing or empty directory outside the storage',
  })
}
