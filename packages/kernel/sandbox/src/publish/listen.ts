import { once } from 'node:events'
import { unlinkSync } from 'node:fs'
import { chmod, link, lstat, mkdtemp, open, readlink, rm } from 'node:fs/promises'
import { connect, type Server } from 'node:net'
import { basename, dirname } from 'node:path'

import { type ErrorCode, WorkspaceError } from '@ws/core'
import type { HostDirectory } from '@ws/core/adapter'
import { type SharedLoopback, shortages } from '@ws/core/executor'

import * as HostPaths from '../view/host-paths.ts'

export type Wanted = Pick<Parameters<SharedLoopback['publish']>[1], 'hostPort' | 'socketPath' | 'mounts'>
type Mounts = Wanted['mounts']

/** `O_PATH | O_DIRECTORY` */
const asPlace = 0o10200000

/**
 * Lets a server listen on this machine. Returns a function for its end, after that of the server.
 * @throws WorkspaceError `EBUSY`, `EACCES`, `ENOENT`, `EINVAL` for a `socketPath` in the directory of a mount
 */
export async function listen(server: Server, wanted: Wanted): Promise<() => Promise<void>> {
  const { hostPort, socketPath, mounts } = wanted
  server.on('error', () => undefined) // before it listens, it is thrown here; later, it is one of a single connection
  try {
    if (socketPath !== undefined) return await listenAt(server, socketPath, mounts)
    await once(server.listen({ host: '127.0.0.1', port: hostPort, exclusive: true }), 'listening')
    return () => Promise.resolve()
  } catch (error) {
    server.close()
    throw error instanceof WorkspaceError ? error : listenError(error as NodeJS.ErrnoException, wanted)
  }
}

async function listenAt(server: Server, path: string, mounts: Mounts): Promise<() => Promise<void>> {
  refuseInside(dirname(path), mounts) // @defence a published Unix socket: there, below it
  const directory = await open(dirname(path), asPlace)
  const here = `/proc/self/fd/${directory.fd}`
  const place = `${here}/${basename(path)}`
  try {
    refuseInside(await readlink(here), mounts)
    // No other user can connect to the socket before it has its mode. To link it replaces nothing.
    const own = await mkdtemp(`${here}/.ws-tmp-`)
    try {
      await once(server.listen({ path: `${own}/s`, exclusive: true }), 'listening')
      await chmod(`${own}/s`, 0o700)
      await link(`${own}/s`, place)
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const problem = isTaken ? await takenError(place, error) : error
    await directory.close()
    throw problem
  }
  const made = HostPaths.identityAt(place)
  return () => {
    if (HostPaths.identityAt(place) === made) unlinkSync(place)
    return directory.close()
  }
}

/** Refuses a directory of a mount, also through links and bind mounts. Commands could connect there, and exchange what is there. */
function refuseInside(directory: string, mounts: Mounts): void {
  HostPaths.doubtOwnMounts()
  const by = (is: (mount: HostDirectory) => boolean) => [...mounts].find(([, mount]) => is(mount))?.[0]
  const inside =
    HostPaths.directoryOnTheWay(directory, (one) => by(({ identity }) => identity === one)) ??
    by(({ path }) => originOf(directory).startsWith(originOf(path)))
  if (inside === undefined) return
  const remedy = 'choose a directory outside of every mount'
  throw refusal(
    'EINVAL',
    `\`socketPath\` lies in the directory of \`${inside}\`, where commands could exchange it`,
    remedy,
  )
}

/** A directory by its file system and the path there, with a slash at the end. All bind mounts of it have the same. */
function originOf(path: string): string {
  const { device = '', root = '', point = '' } = HostPaths.ownMounts().of(path) ?? {}
  const bytes = Buffer.from(path).toString('latin1') // as the mount table has it
  return `${device}:${root}/${bytes.slice(point.length)}/`.replace(/\/{2,}/g, '/')
}

/** Looks whether a program listens at a path that is taken. A killed process leaves its socket. */
async function takenError(path: string, native: unknown): Promise<Error> {
  const probe = connect(path)
  const { code } = await once(probe, 'connect').then(
    () => ({ code: undefined }),
    (error: NodeJS.ErrnoException) => error,
  )
  probe.destroy()
  return code === 'ECONNREFUSED' && (await lstat(path)).isSocket()
    ? refusal(
        'EBUSY',
        'a socket was left at `socketPath`, and no program listens there',
        'remove that file first',
        native,
      )
    : refusal('EBUSY', '`socketPath` is taken', 'choose another path', native)
}

function listenError(native: NodeJS.ErrnoException, { hostPort, socketPath }: Wanted): Error {
  const { code = '', syscall } = native
  const refuse = (of: ErrorCode, reason: string, remedy: string) => refusal(of, reason, remedy, native)
  const shortage = shortages.of(native)
  if (shortage !== undefined) return new WorkspaceError({ ...shortage, operation: 'publish', native })
  if (socketPath !== undefined)
    return syscall === 'open' && ['ENOENT', 'ENOTDIR'].includes(code)
      ? refuse('ENOENT', 'the directory of `socketPath` is missing', 'make it first')
      : refuse('EACCES', 'this process cannot make a socket there', 'choose another directory')
  if (hostPort === 0) return refuse('EBUSY', 'each port of this machine is taken', 'end a program, or use `socketPath`')
  const [of, reason] =
    code === 'EADDRINUSE' ? (['EBUSY', 'is taken'] as const) : (['EACCES', 'is not for this process'] as const)
  return refuse(of, `port ${hostPort} of this machine ${reason}`, 'leave `hostPort` out, or choose another')
}

function refusal(code: ErrorCode, reason: string, remedy: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({ code, operation: 'publish', reason, remedy, native })
}
