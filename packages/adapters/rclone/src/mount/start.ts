import { isWorkspaceError } from '@ws/core'
import { HostPaths } from '@ws/sandbox'

import { noteCopied } from '../cache/copied.ts'
import { StaleNames } from '../cache/stale-names.ts'
import { DirtyFiles } from '../cache/dirty.ts'
import { tellOfNames } from '../cache/look.ts'
import { RenamedDirectories } from '../cache/renamed.ts'
import { Control, explained } from '../control/client.ts'
import { readStats } from '../control/stats.ts'
import { diagnosed, failure } from '../errors.ts'
import type { CheckedOptions } from '../options.ts'
import type { Features } from '../program/features.ts'
import type { FoundRclone } from '../program/find.ts'
import { forgetSecrets, remoteName, writeConfiguration } from '../state/configuration.ts'
import { type MountDirectories, clearDirectories, prepareDirectories } from '../state/directories.ts'
import { mountArguments } from './flags.ts'
import { MountProcess } from './process.ts'
import { unmount } from './unmount.ts'

const operation = 'createRcloneAdapter'

export interface RunningMount {
  readonly process: MountProcess
  readonly control: Control
  /** The store's part as rclone names it. */
  readonly fs: string
  /** Host path of the cache's metadata. */
  readonly metadata: string
  readonly dirty: DirtyFiles
  /** Host path of the cache's contents. */
  readonly content: string
  /** Host path of the mount. */
  readonly root: string
  readonly staleNames: StaleNames
  readonly renamed: RenamedDirectories
}

export interface StartOptions {
  readonly options: CheckedOptions
  readonly place: MountDirectories
  readonly program: FoundRclone
  readonly features: Features
  readonly onUploadFailure: () => void
  readonly signal: AbortSignal | undefined
}

/** Mounts, and checks mount table, control interface, credentials and bucket. After a failure, only the cache remains. */
export async function startMount(start: StartOptions): Promise<RunningMount> {
  const { options, place } = start
  await prepareDirectories(place)
  const deadline = AbortSignal.timeout(options.timeouts.start)
  const signal = start.signal === undefined ? deadline : AbortSignal.any([start.signal, deadline])
  let process: MountProcess | undefined
  let control: Control | undefined
  try {
    const staleNames = new StaleNames(place.cache, options.timeouts.writeBack)
    const renamed = new RenamedDirectories(staleNames, place.cache)
    const configuration = await writeConfiguration(place, options, start.features)
    process = new MountProcess({
      program: start.program.path,
      args: mountArguments(options, place, configuration, start.features),
      lock: place.lock,
      mountPoint: place.mountPoint,
      home: place.run,
      listener: {
        onUploadFailure: start.onUploadFailure,
        onQueue: (name, time) => renamed.noteQueue(name, time),
        onStored: (name, under) => renamed.noteStored(name, under),
        onUploadEnd: (name, calledOff, time) => renamed.noteEnd(name, calledOff, time),
        onRename: (from, to, time) => renamed.noteRename(from, to, time),
        onDirectoryRename: (from, to) => void (start.features.renames || renamed.noteDirectory(from, to)),
        onCopied: (from, to) => noteCopied(staleNames, renamed.places, from, to),
        onEnding: (name) => renamed.noteEnding(name),
        onShown: (name) => renamed.noteShown(name),
        onMaking: (directory, name) => renamed.places.noteMaking(directory, name),
        onRemoving: (directory, name) => renamed.places.noteRemoving(directory, name),
        onMoving: (directory, from, to) => renamed.noteMoving(directory, from, to),
        onChanged: (directory, isDone) => renamed.noteChanged(directory, isDone),
        onDelete: (name, time) => renamed.noteDelete(name, time),
      },
    })
    const { user, password } = configuration
    control = new Control({ address: await process.untilAddressed(signal), user, password })
    await tellOfNames({ control }, renamed.places.isFollowing)
    await checkStore(control, options, signal)
    await process.untilMounted(signal)
    HostPaths.doubtOwnMounts() // executors are to know at once that a mount of this kind is here
    const { fs, metadata, content } = await readStats(control, { signal })
    await forgetSecrets(configuration)
    const dirty = new DirtyFiles(metadata)
    for await (const path of dirty.all()) staleNames.noteLeftover(path.slice(1))
    const root = place.mountPoint
    const { log } = process
    const asked = control
    const catchUp = () => log.catchUp(asked, AbortSignal.timeout(lookMs))
    renamed.part = { control, fs, metadata, content, root, catchUp, attributeCache: options.timeouts.attributeCache }
    return { process, control, fs, metadata, dirty, content, staleNames, renamed, root }
  } catch (error) {
    control?.close()
    // a mount in progress could complete after rclone has ended, and would remain
    await process?.untilMounted(AbortSignal.any([deadline, AbortSignal.timeout(mountingMs)])).catch(() => undefined)
    const died = await lastWords(process, error)
    await process?.end()
    await unmountOwn(place, error)
    await clearDirectories(place)
    start.signal?.throwIfAborted()
    if (!deadline.aborted) throw died ?? error
    const said = process?.log.text ?? ''
    if (said !== '') throw diagnosed(said, operation)
    const remedy = 'check the endpoint and the network, or raise `timeouts.start`'
    throw failure('ETIMEDOUT', 'the mount was not ready in time', { operation, remedy, native: error })
  }
}

/** Milliseconds for rclone to report its past changes, before renamed files are checked. */
const lookMs = 10_000

/** Milliseconds to wait for a mount in progress after the start has failed. */
const mountingMs = 2_000

/** Milliseconds for rclone to end once it is unmounted. */
const endMs = 5_000

/** Unmounts, and waits for rclone and its keeper, within limits. `lazy`: does not wait for users. True if all processes have ended. */
export async function endMount(
  { process, control }: RunningMount,
  { mountPoint }: MountDirectories,
  { lazy }: { readonly lazy: boolean },
): Promise<boolean> {
  if (!(await unmount(mountPoint, { lazy }))) await unmount(mountPoint, { lazy: true })
  await process.untilEnded(endMs)
  const hasEnded = await process.end()
  control.close()
  return hasEnded
}

export function stuckError(operation: string): Error {
  return failure('EIO', 'rclone was killed, and cannot end: a thread of it waits in the kernel', {
    operation,
    remedy: 'unmount it as root with `umount -f`, or restart the machine; the cache is kept',
  })
}

/** Milliseconds within which a process that stopped answering proves to be dead. */
const dyingMs = 500

/** Returns why rclone ended, if that caused the error. */
async function lastWords(process: MountProcess | undefined, error: unknown): Promise<Error | undefined> {
  if (process === undefined || !isWorkspaceError(error, 'EIO') || !(await process.untilEnded(dyingMs))) return undefined
  return await process.failure()
}

/** Unmounts, except a mount of another process. */
async function unmountOwn({ mountPoint }: MountDirectories, error: unknown): Promise<void> {
  const code = (error as { code?: unknown }).code
  if (code !== 'EBUSY') await unmount(mountPoint, { lazy: true })
}

/** The check lists a directory of this name, which does not exist, so the answer is short for every store. */
const nowhere = '.ws-nowhere'

async function checkStore(control: Control, { section, readOnly }: CheckedOptions, signal: AbortSignal): Promise<void> {
  const hasBuckets = section['type'] === 's3'
  await explained(operation, async () => {
    // A prefix of a bucket need not be created. In other stores, the directory of a new thread must be created.
    if (!hasBuckets && !readOnly) await control.call('operations/mkdir', { fs: remoteName, remote: '' }, { signal })
    const remote = hasBuckets ? nowhere : ''
    const opt = { noModTime: true, noMimeType: true }
    await control.call('operations/list', { fs: remoteName, remote, opt }, { signal, timeout: 2 ** 31 - 1 })
  })
}

/** True when the store answers, even with an error, or when rclone cannot be asked. */
export async function storeAnswers(running: RunningMount | undefined, timeout: number): Promise<boolean> {
  if (running === undefined) return true
  const { control, fs } = running
  try {
    await control.call('operations/stat', { fs, remote: nowhere, opt: { filesOnly: true } }, { timeout })
    return true
  } catch (error) {
    return !isWorkspaceError(error, 'ETIMEDOUT')
  }
}
