import { isSlowType, mountOf } from '../view/mount-table.ts'
import { readdirSync } from 'node:fs'
import { WorkspaceError, type VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type { Bind, HostPath, RestrictionProblem } from '@ws/core/executor'

import { noStateDirectory, reservationError } from './errors.ts'
import { type Keeper, keeperProblem, type ReservationAnswer, startKeeper } from './keeper.ts'
import type { Watch, WatchRequest } from './watch.ts'
import { reservedDirectory, stateDirectoryProblem } from './state-directory.ts'

type MissingName = NonNullable<Bind['missing']>

export interface WantedName {
  readonly name: MissingName
  /** The path in the workspace, for messages. */
  readonly at: VirtualPath
  readonly rule?: string | undefined
}

export interface Reservation {
  /** `device:inode` of each placeholder, by its host path. */
  readonly identities: ReadonlyMap<HostPath, string>
  /** Ends this use. Resolves when names that have no other user are removed from the disk. */
  release(): Promise<void>
}

/** Reserves names and watches sandboxes. This process has one helper process for all users. */
export interface NameKeeper {
  /** @throws WorkspaceError `EBUSY` if an entry has a name or blocks its path; `EUNENFORCEABLE` if names cannot be reserved */
  reserve(wanted: readonly WantedName[], owner: Owner): Promise<Reservation>
  /** @throws WorkspaceError `EUNENFORCEABLE` if no sandbox can be watched */
  watch(request: WatchRequest): Watch
  close(): void
}

/** Returns why a missing name cannot be reserved, if this process can already tell. */
export function reservationProblem({ root, path }: MissingName): RestrictionProblem | undefined {
  const problem = keeperProblem()
  if (problem !== undefined)
    return { reason: `does not exist, and its name cannot be reserved: ${problem.reason}`, remedy: problem.remedy }
  const type = typeAt(placeOf({ root, path }))
  if (type !== undefined && !isSlowType(type)) return undefined
  const where =
    type === undefined
      ? 'a file system that is not known'
      : type.startsWith('fuse')
        ? 'a FUSE mount'
        : `a network file system (${type})`
  return {
    reason: `does not exist, and its name cannot be reserved on ${where}`,
    remedy: 'create it in the store, or keep the workspace on a local disk',
  }
}

function typeAt(path: string): string | undefined {
  try {
    return mountOf(path)?.fileSystem
  } catch {
    return undefined
  }
}

export function placeOf({ root, path }: MissingName): HostPath {
  return (root === '/' ? path : root + path) as HostPath
}

interface Held {
  users: number
  readonly placing: Promise<ReservationAnswer>
  readonly id: number
  readonly keeper: Keeper
}

let keeper: Keeper | undefined
let users = 0
let lastId = 0
const held = new Map<string, Held>()

function runningKeeper(): Keeper | undefined {
  if (keeper?.isGone === true) {
    keeper = undefined
    held.clear()
  }
  keeper ??= startKeeper()
  return keeper
}

/** Returns the keeper of this process. The keeper runs from its first user to its last. Each user calls `close` once. */
export function useNameKeeper(): NameKeeper {
  users++
  return {
    reserve,
    watch(request) {
      const running = runningKeeper()
      if (running !== undefined) return running.watch(request)
      const { reason, remedy } = keeperProblem() ?? {
        reason: 'the process that watches could not be started',
        remedy: 'run the command again',
      }
      throw new WorkspaceError({
        code: 'EUNENFORCEABLE',
        operation: 'exec',
        reason: `what rules protect cannot be watched while the command runs: ${reason}`,
        remedy,
      })
    },
    close() {
      if (--users > 0) return
      keeper?.end()
      keeper = undefined
    },
  }
}

export async function sweepReserved(): Promise<void> {
  let names: string[]
  try {
    names = readdirSync(reservedDirectory())
  } catch {
    return // no name is reserved, or the next start cleans up
  }
  if (!names.some((name) => /^[\w-]+\.\d+$/.test(name)) || keeperProblem() !== undefined) return
  const known = useNameKeeper()
  try {
    await runningKeeper()?.sweep()
  } finally {
    known.close()
  }
}

async function reserve(wanted: readonly WantedName[], owner: Owner): Promise<Reservation> {
  const taken: { readonly key: string; readonly entry: Held }[] = []
  const release = async () => {
    await Promise.all(taken.splice(0).map(async ({ key, entry }) => await releaseName(key, entry)))
  }
  // Checks again: the state directory can have changed since the keeper started.
  const [first] = wanted
  const problem = first === undefined ? undefined : stateDirectoryProblem()
  if (first !== undefined && problem !== undefined) throw noStateDirectory(first, problem)
  try {
    const found = wanted.map((one) => ({ one, ...take(one, owner) }))
    taken.push(...found)
    const identities = new Map<HostPath, string>()
    for (const { one, entry } of found) {
      const answer = await entry.placing
      if (!answer.placed) throw reservationError(one, answer.failure, answer.native)
      identities.set(placeOf(one.name), answer.identity)
    }
    return { identities, release }
  } catch (error) {
    await release()
    throw error
  }
}

function take({ name, at, rule }: WantedName, owner: Owner): { readonly key: string; readonly entry: Held } {
  const running = runningKeeper()
  if (running === undefined) throw reservationError({ at, rule }, 'gone')
  const { content } = name
  const key = `${owner.uid} ${owner.gid} ${name.root}\0${name.path}\0${content ?? '/'}`
  const known = held.get(key)
  // Does not use an entry of an earlier keeper, which is ending and releasing its names.
  if (known?.keeper === running) {
    known.users++
    return { key, entry: known }
  }
  const id = ++lastId
  const giveTo = process.getuid?.() === 0 ? owner : undefined
  const placing = running.place({ id, root: name.root, path: name.path.slice(1), owner: giveTo, content })
  const entry: Held = { users: 1, id, placing, keeper: running }
  held.set(key, entry)
  return { key, entry }
}

async function releaseName(key: string, entry: Held): Promise<void> {
  if (--entry.users > 0) return
  if (held.get(key) === entry) held.delete(key)
  // The keeper handles requests in order: a new request for this name comes after the drop.
  if ((await entry.placing).placed) await entry.keeper.drop(entry.id)
}
