import { type BigIntStats, close, constants, fstat, open, readlinkSync } from 'node:fs'
import { promisify } from 'node:util'

import { WorkspaceError, type HostPath, type VirtualPath } from '@ws/core'

// Not in fs.constants; the same number on every architecture that Node runs on.
const pathOnly = 0o10000000
const attempts = 5

const openAsync = promisify(open)
const closeAsync = promisify(close)
const statAsync = promisify(fstat) as (fd: number, options: { bigint: true }) => Promise<BigIntStats>

/** A file or directory of the host, held by a descriptor: what it names cannot be exchanged any more. */
export interface BindSource {
  /** An `O_PATH` descriptor of this process. Valid until {@link BindSource.close}. */
  readonly fd: number
  /** `device:inode`, in decimal. */
  readonly identity: string
  close(): Promise<void>
}

export interface OpenBindSourceOptions {
  /** Where it appears: named in errors, in place of the host path. */
  readonly at: VirtualPath
  /** Default `exec`. */
  readonly operation?: string | undefined
}

/**
 * Opens what is to be bound, without following a link anywhere in its path: the descriptor's own name must be the path
 * that was asked for. Nothing is read and nothing is changed.
 *
 * @throws WorkspaceError `EBUSY` when it is missing, a link, of another type, or keeps changing; `EBACKEND` when this
 * process may not reach it. No message holds the host path.
 */
export async function openBindSource(
  hostPath: HostPath,
  type: 'directory' | 'file',
  options: OpenBindSourceOptions,
): Promise<BindSource> {
  let failure: WorkspaceError | undefined
  for (let attempt = 0; attempt < attempts; attempt++) {
    const opened = await openOnce(hostPath, type, options)
    if (!(opened instanceof WorkspaceError)) return opened
    failure = opened
    if (failure.code !== 'EBUSY') break
  }
  throw failure ?? busy(options, 'keeps changing')
}

async function openOnce(
  hostPath: HostPath,
  type: 'directory' | 'file',
  options: OpenBindSourceOptions,
): Promise<BindSource | WorkspaceError> {
  let fd: number
  try {
    fd = await openAsync(hostPath, pathOnly | constants.O_NOFOLLOW)
  } catch (error) {
    return openFailure(error as NodeJS.ErrnoException, options)
  }
  try {
    // As bytes: two different invalid sequences look the same as text.
    const name = readlinkSync(`/proc/self/fd/${fd}`, 'buffer')
    const stat = await statAsync(fd, { bigint: true })
    const problem = name.equals(Buffer.from(hostPath)) ? problemOf(stat, type) : 'has a link in its path, or was moved'
    if (problem !== undefined) {
      await closeAsync(fd)
      return busy(options, problem)
    }
    const { dev, ino } = stat
    return { fd, identity: `${dev}:${ino}`, close: () => closeAsync(fd) }
  } catch (error) {
    await closeAsync(fd)
    return busy(options, 'cannot be examined', error)
  }
}

function problemOf(stat: BigIntStats, type: 'directory' | 'file'): string | undefined {
  if (stat.isSymbolicLink()) return 'is a link'
  if (type === 'directory') return stat.isDirectory() ? undefined : 'is no directory any more'
  return stat.isDirectory() ? 'is no file any more' : undefined
}

function openFailure(error: NodeJS.ErrnoException, options: OpenBindSourceOptions): WorkspaceError {
  const { code } = error
  if (code === 'ENOENT' || code === 'ENOTDIR') return busy(options, 'is not there any more', error)
  if (code === 'ELOOP') return busy(options, 'has a link in its path', error)
  return new WorkspaceError({
    code: 'EBACKEND',
    operation: options.operation ?? 'exec',
    path: options.at,
    reason: `cannot be reached on this machine (${code ?? 'unknown error'})`,
    remedy: 'let the owner of the workspace enter its directory and those above it',
    native: error,
  })
}

function busy(options: OpenBindSourceOptions, what: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'EBUSY',
    operation: options.operation ?? 'exec',
    path: options.at,
    reason: `${what}, so it cannot be shown to a command safely`,
    remedy: 'run the command again when nothing changes it',
    native,
  })
}
