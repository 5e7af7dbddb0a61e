import { type BigIntStats, close, closeSync, constants, fstat, fstatSync, open, openSync, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'

import { WorkspaceError, type VirtualPath } from '@ws/core'
import { type BindPlan, type HostPath, shortages } from '@ws/core/executor'
import { ownMounts } from './mount-table.ts'

// O_PATH, which `fs.constants` lacks. The number is the same on every architecture that Node supports.
const pathOnly = 0o10000000
const attempts = 5

/** A host file or directory, held open by a descriptor so that no other entry can replace it. */
export interface BindSource {
  /** An `O_PATH` descriptor of this process, valid until {@link BindSource.close}. */
  readonly fd: number
  /** `device:inode`, in decimal. */
  readonly identity: string
  close(): void
}

export interface WantedSource {
  readonly path: HostPath
  readonly type: 'directory' | 'file'
  /** The path for error messages, instead of the host path. */
  readonly at: VirtualPath
}

/**
 * Opens sources of binds without following links: the kernel's name for the descriptor must equal the path. Uses threads on FUSE and NFS.
 *
 * @returns in the order of `wanted`
 * @throws WorkspaceError `EBUSY`: a source is missing, a link, of another type, or keeps changing; `EBACKEND`: unreachable. No message
 * contains the host path. After an error, no descriptor remains open.
 */
export async function openBindSources(wanted: readonly WantedSource[], operation = 'exec'): Promise<BindSource[]> {
  if (wanted.length === 0) return []
  const mayBlock = slowPaths()
  const settled = await Promise.allSettled(
    wanted.map((one) => openWanted({ ...one, operation }, mayBlock(one.path) ? patient : immediate)),
  )
  const opened = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = settled.find((one) => one.status === 'rejected')
  if (failed === undefined) return opened
  for (const source of opened) source.close()
  throw failed.reason
}

export async function openBindSource(wanted: WantedSource, operation?: string): Promise<BindSource> {
  const [source] = await openBindSources([wanted], operation)
  if (source === undefined) throw new Error('nothing was opened')
  return source
}

/** Returns whether a path is on a file system that may hang (FUSE, NFS) or is unknown. */
export function isOnSlowMount(paths: Iterable<string | undefined>): boolean {
  const mayBlock = slowPaths()
  for (const path of paths) if (path !== undefined && mayBlock(path)) return true
  return false
}

function slowPaths(): (path: string) => boolean {
  try {
    return ownMounts().mayBlock
  } catch {
    return () => true
  }
}

interface Wanted extends WantedSource {
  readonly operation: string
}

/** System calls, in this thread or on libuv's threads. */
interface Calls {
  open(path: string, flags: number): number | Promise<number>
  stat(fd: number): BigIntStats | Promise<BigIntStats>
  close(fd: number): void
}

const immediate: Calls = {
  open: (path, flags) => openSync(path, flags),
  stat: (fd) => fstatSync(fd, { bigint: true }),
  close: closeSync,
}

const openAsync = promisify(open)
const statAsync = promisify(fstat) as (fd: number, options: { bigint: true }) => Promise<BigIntStats>

const patient: Calls = {
  open: openAsync,
  stat: (fd) => statAsync(fd, { bigint: true }),
  close: (fd) => close(fd, () => undefined), // after `close`, even a failed one, the descriptor is free
}

async function openWanted(wanted: Wanted, calls: Calls): Promise<BindSource> {
  for (let attempt = 1; ; attempt++) {
    const opened = await openOnce(wanted, calls)
    if (!(opened instanceof WorkspaceError)) return opened
    if (attempt >= attempts || opened.code !== 'EBUSY') throw opened
  }
}

async function openOnce(wanted: Wanted, calls: Calls): Promise<BindSource | WorkspaceError> {
  let fd: number
  try {
    fd = await calls.open(wanted.path, pathOnly | constants.O_NOFOLLOW)
  } catch (error) {
    return openFailure(error as NodeJS.ErrnoException, wanted)
  }
  try {
    // Compares bytes: as text, two different invalid sequences would be equal.
    const name = readlinkSync(`/proc/self/fd/${fd}`, 'buffer')
    const stat = await calls.stat(fd)
    const same = name.equals(Buffer.from(wanted.path))
    const problem = same ? problemOf(stat, wanted.type) : 'has a link in its path, or was moved'
    if (problem === undefined) return { fd, identity: `${stat.dev}:${stat.ino}`, close: () => calls.close(fd) }
    calls.close(fd)
    return busy(wanted, problem)
  } catch (error) {
    calls.close(fd)
    return busy(wanted, 'cannot be examined', error)
  }
}

function problemOf(stat: BigIntStats, type: 'directory' | 'file'): string | undefined {
  if (stat.isSymbolicLink()) return 'is a link'
  if (type === 'directory') return stat.isDirectory() ? undefined : 'is not a directory any more'
  return stat.isDirectory() ? 'is not a file any more' : undefined
}

function openFailure(error: NodeJS.ErrnoException, { operation, at }: Wanted): WorkspaceError {
  const { code } = error
  if (code === 'ENOENT' || code === 'ENOTDIR') return busy({ operation, at }, 'is not there any more', error)
  const shortage = shortages.of(error)
  if (shortage !== undefined) return shortages.refusal(shortage, { operation, native: error })
  if (code === 'ELOOP') return busy({ operation, at }, 'has a link in its path', error)
  return new WorkspaceError({
    code: 'EBACKEND',
    operation,
    path: at,
    reason: `cannot be reached on this machine (${code ?? 'unknown error'})`,
    remedy: 'let the owner of the workspace enter its directory and those above it',
    native: error,
  })
}

function busy({ operation, at }: Pick<Wanted, 'operation' | 'at'>, what: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'EBUSY',
    operation,
    path: at,
    reason: `${what}, so it cannot be shown to a command safely`,
    remedy: 'run the command again when nothing changes it',
    native,
  })
}

/**
 * Returns whether commands may query extended attributes; else the query is ENOTSUP. On FUSE and networks each query is a round trip.
 * Rclone answers EIO, after which `cp -a` and `shutil.copy2` give up.
 */
export function offersExtendedAttributes({ binds }: Pick<BindPlan, 'binds'>): boolean {
  return !isOnSlowMount(binds.map(({ source }) => source))
}
