import { type BigIntStats, lstatSync, readFileSync } from 'node:fs'

import type { WorkspaceError } from '@ws/core'
import { execError, type HostPath } from '@ws/core/executor'
import { HostPaths } from '@ws/sandbox'

import type { Placement } from './layout.ts'

/** The program, for `perl -e`, that looks at a tree from inside. */
export const lookScript = readFileSync(new URL('look.pl', import.meta.url), 'utf8')

/** A tree as {@link lookScript} sees it. */
export interface Look {
  /** `device inode uid` of each path; `-` for a missing one. */
  readonly entries: readonly string[]
  readonly mounts: readonly HostPaths.MountEntry[]
  /** `/proc/self/status` and the network devices. */
  readonly status: string
}

export function parseLook(text: string): Look {
  const [entries = '', mounts = '', status = '', devices = ''] = text.split('\n\n')
  return { entries: entries.split('\n'), mounts: HostPaths.parseMountTable(mounts), status: `${status}\n${devices}` }
}

/** Mounts over protected parts, by their numbers. */
export type Covers = ReadonlyMap<string, Placement>

/**
 * Compares a tree with its plan: the engine binds by name, as root, and another program can exchange the names meanwhile.
 *
 * @param identities gives `device:inode` of each source, which a descriptor holds
 * @returns the mounts that must stay
 * @throws WorkspaceError `EBUSY` for an exchanged entry; `ENOEXECUTOR` if the engine sees other files; `EUNENFORCEABLE` for a part that
 * it does not seal
 */
export function verifyTree(
  placements: readonly Placement[],
  { entries, mounts }: Look,
  identities: (source: HostPath) => string | undefined,
): Covers {
  const visible = new Map(mounts.map((entry) => [entry.point, entry]))
  const covers = new Map<string, Placement>()
  for (const [index, placement] of placements.entries()) {
    const mount = visible.get(latin(placement.at))
    const [device = '', inode = '', uid = ''] = (entries[index] ?? '-').split(' ')
    if (mount === undefined || (placement.readOnly && !mount.readOnly)) throw exchanged(placement)
    // @defence a directory that is exchanged while its container is built: refuses another entry
    if (`${device}:${inode}` !== identities(placement.source)) throw misplaced(placement, device)
    if (uid !== String(statusOf(placement.source)?.uid)) throw otherUsers(placement)
    if (placement.beneath !== undefined) covers.set(mount.id, placement)
  }
  checkSealed(placements, mounts)
  return covers
}

/** Refuses a writable mount below a read-only one. Docker seals these from version 25 on. */
function checkSealed(placements: readonly Placement[], mounts: readonly HostPaths.MountEntry[]): void {
  const planned = new Map(placements.map((placement) => [latin(placement.at), placement]))
  for (const { point, readOnly } of mounts) {
    if (readOnly || planned.has(point)) continue
    let place = point
    while (place !== '' && !planned.has(place)) place = place.slice(0, place.lastIndexOf('/'))
    const around = planned.get(place)
    if (around?.readOnly === true)
      throw execError(
        'EUNENFORCEABLE',
        'has another file system mounted below it, which this engine does not make read-only',
        {
          path: around.virtual,
          rule: around.rule,
          remedy: 'use Docker 25 or later, or unmount it',
        },
      )
  }
}

/** The device of an entry tells an exchange from an engine that runs elsewhere. */
function misplaced(placement: Placement, device: string): WorkspaceError {
  const here = statusOf(placement.source)
  if (here === undefined || device === String(here.dev)) return exchanged(placement)
  return execError('ENOEXECUTOR', 'the container engine sees other files at the place of this workspace', {
    remedy: 'use an engine that runs on this machine itself, not in a virtual machine and not on another one',
  })
}

function otherUsers({ virtual }: Placement): WorkspaceError {
  return execError('ENOEXECUTOR', 'the users of the container engine are other users than those of this machine', {
    path: virtual,
    remedy: 'use an engine that is neither rootless nor set to remap users',
  })
}

export function exchanged({ virtual, rule }: Pick<Placement, 'virtual' | 'rule'>): WorkspaceError {
  return execError('EBUSY', 'was exchanged while the container was built', {
    path: virtual,
    rule,
    remedy: 'run the command again when nothing changes the workspace',
  })
}

/** The parts whose mounts a new table lacks: a host program that replaces an entry lifts the mount over it. */
export function lostCovers(covers: Covers, table: string): Placement[] {
  const left = new Set(table.split('\n').map((line) => line.slice(0, line.indexOf(' '))))
  const isLost = (id: string) => !left.has(id) // @defence `!` a mask that a rename on the host lifts: names the parts
  return [...covers].flatMap(([id, placement]) => (isLost(id) ? [placement] : []))
}

/** The identities of the entries below mounts before a container is built. */
export function placesOf(placements: readonly Placement[]): ReadonlyMap<HostPath, string | undefined> {
  return new Map(
    placements.flatMap(({ beneath }) => (beneath === undefined ? [] : [[beneath, identityOf(statusOf(beneath))]])),
  )
}

/**
 * Refuses a container whose mount points changed: the engine makes missing ones on the disk, as root.
 * @throws WorkspaceError `EBUSY`; `EIO` for an entry that the engine may have made
 */
export function checkPlaces(placements: readonly Placement[], before: ReadonlyMap<HostPath, string | undefined>): void {
  for (const placement of placements) {
    const { beneath, virtual, rule } = placement
    const status = beneath && statusOf(beneath)
    if (beneath === undefined || (status !== undefined && identityOf(status) === before.get(beneath))) continue
    // @defence a mount point that the engine makes on the disk: refuses a mount point
    if (status?.uid !== 0n) throw exchanged(placement)
    throw execError(
      'EIO',
      'was removed while a container was built, and the engine may have made an empty entry there',
      {
        path: virtual,
        rule,
        remedy: 'let the operator remove the entry, which belongs to root, and run the command again',
      },
    )
  }
}

function statusOf(path: HostPath): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })
}

function identityOf(status: BigIntStats | undefined): string | undefined {
  return status && `${status.dev}:${status.ino}`
}

function latin(path: string): string {
  return Buffer.from(path).toString('latin1')
}
