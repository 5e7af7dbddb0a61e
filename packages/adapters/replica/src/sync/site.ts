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

/** The two sides of a replica, and their known state. */
export interface Site {
  readonly store: InnerAdapter
  readonly disk: Disk
  readonly tree: ReplicaTree
  readonly tombstones: Tombstones
  readonly packs: Packs
  /** Lets calls of the file API run together. The replica's own changes of the disk wait for these calls. */
  readonly turnstile: Turnstile
  readonly puts: Puts
  readonly limits: Limits
  /** Limits large files in transfer, because each keeps several pieces in memory. */
  readonly large: concurrency.Semaphore
  readonly machine: string
  readonly onEvent: (event: ReplicaEvent) => void
  /** Names that commands have reserved right now. */
  readonly reserved: () => readonly string[]
  /** True while programs run, which may have files mapped. */
  readonly isBusy: () => boolean
}

/**
 * The outcome of the work on one path. `done`: both sides agree, or another step does the rest. `changed`: the disk differs from
 * its last scan. `differs`: the store differs from its listing.
 */
export type Step = 'done' | 'changed' | 'differs'

/** A past state of a file or link on the disk, kept for entries that programs change all the time. */
export interface Held {
  /** `undefined` if no entry existed. */
  readonly facts: Seen | undefined
  /** The content of a file. */
  readonly bytes: Uint8Array | undefined
}

export interface StepOptions extends SignalOption {
  /** Entries that are pushed in their held state. */
  readonly held?: ReadonlyMap<MountPath, Held> | undefined
  /** The entries of the store, if they were listed a moment ago or have no other writer. */
  readonly listed?: ReadonlyMap<string, Pick<Remote, 'type'>> | undefined
  /** Notes a change that the store has acknowledged. */
  readonly onPushed: () => void
}

/** The facts of an entry that a push sends to the store. */
export function factsToPush({ tree }: Site, path: MountPath, held: StepOptions['held']): Seen | undefined {
  const one = held?.get(path)
  return one === undefined ? tree.seen.get(path) : one.facts
}

/** Scans the disk again: these paths, or everything. */
export async function rescan({ disk, tree, reserved, isBusy, onEvent }: Site, only?: readonly string[]): Promise<void> {
  const before = reserved()
  const result = await disk.ask('look', { only, reserved: before, mapped: isBusy() })
  // a name that a command reserved during the scan is no user's file
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

/** Records an entry of the store that cannot come to the disk. Commands continue without it. */
export function leaveInStore({ tree, onEvent }: Site, path: string, reason: string): void {
  const left = { path: path as MountPath, reason, holdsBytes: false }
  const isNew = tree.notHeld.get(path)?.reason !== reason
  tree.notHeld.set(path, left)
  if (isNew) onEvent({ event: 'left-out', ...left })
}

/** Records an entry of the disk that must not go to the store. Commands continue without it. */
export function leaveHere({ tree, onEvent }: Site, path: string, reason: string, holdsBytes = true): Step {
  const left = { path: path as MountPath, reason, holdsBytes }
  if (tree.refuse(left)) onEvent({ event: 'left-out', ...left })
  return 'done'
}

/** Records that both sides have the same entries. */
export async function agree({ disk, tree }: Site, base: readonly Base[], gone: readonly string[] = []): Promise<void> {
  await disk.ask('agree', base, gone)
  tree.agree(base, gone)
}
