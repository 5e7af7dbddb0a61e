import { identityOf } from './host/calls.ts'
import { lstat, realpath as resolveLinks, statfs } from 'node:fs/promises'

import { paths, WorkspaceError } from '@ws/core'
import { type SignalOption, type StorageAdapter, defineAdapter } from '@ws/core/adapter'
import { shortages } from '@ws/core/executor'
import { HostPaths } from '@ws/sandbox'

import { LocalDriver } from './adapter.ts'
import { handleOf, hasProc } from './confine/handle.ts'
import type { Task } from './confine/task.ts'
import { Tree } from './confine/tree.ts'
import { nativeCode, translate } from './errors.ts'
import { calls } from './host/blocking.ts'
import { anyDirectory } from './host/constants.ts'
import { learnOwnDirectory, pathOfDescriptor } from './host/calls.ts'
import { Engines } from './host/engine.ts'
import { NestedMounts, fuseType, isExactType, tmpfsType, mountTypeOf } from './host/mounts.ts'
import { replacement } from './host/name.ts'
import {
  type CheckedOptions,
  type LocalAdapterOptions,
  type ScratchAdapterOptions,
  checkLocalOptions,
  checkScratchOptions,
  invalid,
} from './options.ts'
import { capabilitiesOf } from './capabilities.ts'
import { createRoot } from './root/create-root.ts'
import { probeCase } from './root/case.ts'
import { chooseOwner, ownUser, recipientOf } from './root/owner.ts'
import { makePrivate, removePrivate } from './root/private-directory.ts'
import { givenUpMode, leavePlace, leftScratch, placeBeside, scratchPlaces } from './root/scratch-places.ts'
import { sweepAtStart } from './confine/sweep-at-start.ts'
import { createFork } from './fork/create-fork.ts'

const operation = 'createLocalAdapter'

export async function createLocalAdapter(options: LocalAdapterOptions): Promise<StorageAdapter> {
  const { create, ...checked } = checkLocalOptions(options)
  if (create) await createRoot(checked.root, checked.owner)
  return await openRoot(checked, async () => {})
}

/** A private empty directory (0700), removed by `close()`. @throws `EINVAL` (options), `EBACKEND` (no usable place), `ENOSPC` */
export async function createScratchAdapter(options: ScratchAdapterOptions = {}): Promise<StorageAdapter> {
  const { owner = ownUser().uid === 0 ? ordinary : undefined, io } = checkScratchOptions(options)
  return await openScratch({ owner, io })
}

/** The user that runs commands if this process is root. */
const ordinary = { uid: 1000, gid: 1000 }

async function openScratch({ owner, io }: Pick<CheckedOptions, 'owner' | 'io'>): Promise<StorageAdapter> {
  const user = owner ?? ownUser()
  const sweep = (place: string): Promise<void> => sweepScratch(place, user.uid)
  const root = await makePrivate(scratchPlaces(), { owner: user, operation: 'createScratch', sweep })
  try {
    return await openRoot({ root, owner, io }, (task, identity) => removePrivate(task, root, identity))
  } catch (error) {
    await calls.rmdir(root)
    throw error
  }
}

type OnClose = (task: Task, identity: string) => Promise<void>

async function openRoot({ root: given, owner: givenOwner, io }: Omit<CheckedOptions, 'create'>, onClose: OnClose) {
  const root = await resolveRoot(given)
  if (hasProc()) learnOwnDirectory()
  let fd = -1
  try {
    if (hasProc()) fd = await openDescriptor(root)
  } catch (error) {
    throw translate(error, { operation, path: paths.mountRoot })
  }
  try {
    return await describeRoot({ root, fd, givenOwner, io }, onClose)
  } catch (error) {
    if (fd >= 0) await calls.close(fd)
    throw translate(error, { operation, path: paths.mountRoot })
  }
}

interface Root {
  readonly root: string
  readonly fd: number
  readonly givenOwner: CheckedOptions['owner']
  readonly io: CheckedOptions['io']
}

async function describeRoot({ root, fd, givenOwner, io }: Root, onClose: OnClose): Promise<StorageAdapter> {
  const status = fd >= 0 ? await calls.fstat(fd) : await calls.lstat(root)
  const owner = chooseOwner(givenOwner, status)
  const mounts = new NestedMounts(root)
  const identity = identityOf(status)
  const type = mountTypeOf(root)
  const magic = await magicOf(fd >= 0 ? pathOfDescriptor(fd) : root)
  const exactDevice = magic !== undefined && isExactType(magic) ? status.dev : undefined
  const memoryDevice = magic === tmpfsType ? status.dev : undefined
  const parts = { root, fd, identity, mounts, giveTo: recipientOf(owner), exactDevice, memoryDevice }
  // A file system without a known type is treated as a file system that may block.
  const slowRoot = HostPaths.isSlowType(type) || magic === undefined || magic === fuseType
  const engines = new Engines({ io, slowRoot, mounts, device: String(status.dev) })
  const first = new Tree({ ...parts, caseSensitive: true })
  const handle = fd >= 0 ? { fd: -1, self: pathOfDescriptor(fd) } : { fd: -1, self: root }
  const task: Task = { tree: first, calls, pooled: calls, operation, path: paths.mountRoot, signal: undefined }
  const caseSensitive = await probeCase(task, handle, type)
  await sweepAtStart(task, handle, { deep: !slowRoot && !mounts.touchesSlow(root) })
  const user = owner ?? ownUser()
  const sweep = (place: string): Promise<void> => sweepScratch(place, user.uid)
  await sweep(placeBeside(root))
  const driver = new LocalDriver({
    tree: new Tree({ ...parts, caseSensitive }),
    engines,
    owner,
    capabilities: capabilitiesOf({ root, verified: fd >= 0, caseSensitive }),
    createScratch: (options) => createScratch({ owner, io }, options),
    createFork: (forking, options) =>
      createFork(forking, options, {
        ...{ owner: user, sweep },
        open: (at, whenClosed) => openRoot({ root: at, owner: givenOwner, io }, whenClosed),
      }),
    onClose: async () => {
      try {
        await onClose({ ...task, ...engines.for([root]) }, identity)
      } finally {
        if (fd >= 0) await calls.close(fd)
      }
    },
  })
  return defineAdapter(driver, { trusted: true })
}

async function createScratch(
  options: Pick<CheckedOptions, 'owner' | 'io'>,
  { signal }: SignalOption = {},
): Promise<StorageAdapter> {
  signal?.throwIfAborted()
  const scratch = await openScratch(options)
  if (signal?.aborted !== true) return scratch
  await scratch.close()
  throw signal.reason
}

async function resolveRoot(given: string): Promise<string> {
  let root: string
  try {
    root = await resolveLinks(given)
    if (!(await calls.lstat(root)).isDirectory()) throw missingRoot('the root is not a directory')
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOENT') throw missingRoot('the root directory does not exist', error)
    if (code === 'ENOTDIR') throw missingRoot('the root is not a directory', error)
    if (code === 'ELOOP') throw missingRoot('the root is a link that leads nowhere', error)
    throw translate(error, { operation, path: paths.mountRoot })
  }
  if (root.includes(replacement) && !(await resolveLinks(given, 'buffer')).equals(Buffer.from(root))) {
    throw invalid('the path of the root is not valid UTF-8', 'rename the directory')
  }
  return root
}

function missingRoot(reason: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'ENOWORKSPACE',
    operation,
    reason,
    remedy: 'create the directory first (or pass `create: true`), or name another one',
    native,
  })
}

async function openDescriptor(root: string): Promise<number> {
  const fd = await calls.open(root, anyDirectory)
  const handle = handleOf(fd)
  if ((await calls.readlink(handle.self)).toString() === root) return fd
  await calls.close(fd)
  throw missingRoot('the root directory was exchanged while it was opened')
}

async function magicOf(path: string): Promise<number | undefined> {
  try {
    return (await statfs(path)).type
  } catch {
    return undefined
  }
}

/** Limit of leftovers that are removed before a new scratch directory is made. */
const scratchSwept = 16

/**
 * Removes scratch directories of killed processes. In a shared directory such as /tmp, any user may have made them.
 * So each is opened as a scratch tree, which confines the removal.
 */
async function sweepScratch(parent: string, uid: number): Promise<void> {
  let left = scratchSwept
  for (const root of await leftScratch(parent)) {
    if ((left -= 1) < 0) break
    try {
      const status = await lstat(root)
      const isOurs = status.uid === uid || status.uid === process.getuid?.()
      if (!status.isDirectory() || !isOurs || (status.mode & 0o777) !== 0o700) continue
      const leftover = await openRoot({ root, owner: undefined, io: 'auto' }, async (task, identity) => {
        try {
          await removePrivate(task, root, identity)
        } catch (error) {
          // The next start would fail in the same way and take as long, so the mode marks the directory. `ws doctor` names it.
          if (shortages.of(error) === undefined && task.tree.verified) {
            await task.calls.chmod(pathOfDescriptor(task.tree.fd), givenUpMode)
          }
          throw error
        }
      })
      await leftover.close()
    } catch {
      // Another process is removing the directory, or it cannot be removed.
    }
  }
  await leavePlace(parent)
}
