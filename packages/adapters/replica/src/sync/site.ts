import type { MountPath, SignalOption, concurrency } from '@ws/core/adapter'
import type { InnerAdapter } from '@ws/core/inner'
import type { Turnstile } from '@ws/tree'

import type { ReplicaEvent } from '../contract.ts'
import type { Disk } from '../disk.ts'
import type { Base, Seen } from '../worker/protocol.ts'
import type { Packs } from './packs.ts'
import type { Puts } from './puts.ts'
import type { Limits, Remote } from './remote.ts'
import type { Tombstones } from './tombstones.ts'
import type { ReplicaTree } from './tree.ts'

/** The two sides of a replica, and what is known of them. */
export interface Site {
  readonly store: InnerAdapter
  readonly disk: Disk
  readonly tree: ReplicaTree
  readonly tombstones: Tombstones
  readonly packs: Packs
  /** Lets calls of the file API pass, and changes of the disk by the replica itself wait for them. */
  readonly turnstile: Turnstile
  readonly puts: Puts
  readonly limits: Limits
  /** Few large files are on their way at once: each holds some pieces in memory. */
  readonly large: concurrency.Semaphore
  readonly machine: string
  readonly onEvent: (event: ReplicaEvent) => void
  /** Names that commands have reserved at this moment. */
  readonly reserved: () => readonly string[]
  /** Programs run, which may have files mapped. */
  readonly isBusy: () => boolean
}

/**
 * The end of the work on one path. `done`: both sides agree, or the rest is another step's. `changed`: the disk is not as it
 * was seen. `differs`: the store is not as it was listed.
 */
export type Step = 'done' | 'changed' | 'differs'

/** A file or link of the disk as it was, for one that programs change all the time. */
export interface Held {
  /** `undefined`: nothing was there. */
  readonly facts: Seen | undefined
  /** The content of a file. */
  readonly bytes: Uint8Array | undefined
}

export interface StepOptions extends SignalOption {
  /** These go to the store as they were. */
  readonly held?: ReadonlyMap<MountPath, Held> | undefined
  /** The entries of the store, where they were listed a moment ago, or have no other writer. */
  readonly listed?: ReadonlyMap<string, Pick<Remote, 'type'>> | undefined
  /** Notes a change that the store has acknowledged. */
  readonly onPushed: () => void
}

/** An entry of the disk as it goes to the store. */
export function factsToPush({ tree }: Site, path: MountPath, held: StepOptions['held']): Seen | undefined {
  const one = held?.get(path)
  return one === undefined ? tree.seen.get(path) : one.facts
}

/** Looks at the disk again: at these paths, or at everything. */
export async function look({ disk, tree, reserved, isBusy, onEvent }: Site, only?: readonly string[]): Promise<void> {
  const before = reserved()
  const result = await disk.ask('look', { only, reserved: before, mapped: isBusy() })
  // a name that a command reserved during the look is not a file of anybody
  const since = new Set(reserved().filter((path) => !before.includes(path)))
  const changed = since.size === 0 ? result.changed : new Map([...result.changed].filter(([path]) => !since.has(path)))
  const known = new Set(tree.leftOut.keys())
  tree.take({ ...result, changed }, only)
  for (const [path, left] of tree.leftOut) if (!known.has(path)) onEvent({ event: 'left-out', ...left })
  const settled = [...tree.conflicts.keys()].filter((kept) => !tree.seen.has(kept))
  if (settled.length === 0) return
  for (const kept of settled) tree.conflicts.delete(kept)
  await disk.ask('settle', settled)
}

/** Notes an entry of the store that cannot come to the disk. Commands go on without it. */
export function leaveInStore({ tree, onEvent }: Site, path: string, reason: string): void {
  const left = { path: path as MountPath, reason, holdsBytes: false }
  const isNew = tree.notHeld.get(path)?.reason !== reason
  tree.notHeld.set(path, left)
  if (isNew) onEvent({ event: 'left-out', ...left })
}

/** Notes an entry of the disk that the store must not get. Commands go on without it. */
export function leaveHere({ tree, onEvent }: Site, path: string, reason: string, holdsBytes = true): Step {
  const left = { path: path as MountPath, reason, holdsBytes }
  if (tree.refuse(left)) onEvent({ event: 'left-out', ...left })
  return 'done'
}

/** Notes that both sides have the same entries. */
export async function agree({ disk, tree }: Site, base: readonly Base[], gone: readonly string[] = []): Promise<void> {
  await disk.ask('agree', base, gone)
  tree.agree(base, gone)
}
