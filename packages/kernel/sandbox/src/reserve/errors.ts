import { WorkspaceError, type VirtualPath } from '@ws/core'
import { shortages } from '@ws/core/executor'

import type { ReservationFailure } from './keeper.ts'
import type { StateProblem } from './state-directory.ts'

interface Named {
  readonly at: VirtualPath
  readonly rule?: string | undefined
}

const failures: Readonly<Record<ReservationFailure, readonly [reason: string, remedy: string]>> = {
  changed: ['appeared or changed while the command was started', 'run the command again'],
  busy: ['could not be reserved, since another process holds the list of reserved names', 'run the command again'],
  forbidden: [
    'does not exist, and its name cannot be reserved: its directory does not let this user create it',
    'create it, or let the owner of the workspace write to its directory',
  ],
  sealed: [
    'does not exist, and its name cannot be reserved: its file system is read-only',
    'mount the file system for writing, or create the name before',
  ],
  short: [
    'does not exist, and its name cannot be reserved: this machine runs short of something',
    'run fewer commands',
  ],
  unsupported: [
    'does not exist, and its name cannot be reserved on this file system',
    'create it, or keep the workspace on a local disk',
  ],
  unwritable: [
    'does not exist, and its name cannot be reserved: the list of reserved names cannot be written',
    'set WS_STATE_DIRECTORY to a directory of this user that can be written',
  ],
  gone: [
    'does not exist, and its name cannot be reserved: the process that reserves names ended',
    'run the command again',
  ],
}

export function reservationError({ at, rule }: Named, failure: ReservationFailure, native?: unknown): WorkspaceError {
  const shortage = shortages.of(native)
  if (shortage !== undefined) return shortOf({ at, rule }, shortage, native)
  const [reason, remedy] = failures[failure] ?? failures.changed
  const again = failure === 'changed' || failure === 'busy' || failure === 'gone'
  return new WorkspaceError({
    code: again ? 'EBUSY' : 'EUNENFORCEABLE',
    operation: 'exec',
    path: at,
    rule,
    reason,
    remedy,
    native,
  })
}

/** Returns the refusal to reserve a name without a usable state directory. */
export function noStateDirectory({ at, rule }: Named, { reason, remedy, native }: StateProblem): WorkspaceError {
  const shortage = shortages.of(native)
  if (shortage !== undefined) return shortOf({ at, rule }, { ...shortage, reason, remedy }, native)
  return new WorkspaceError({
    code: 'EUNENFORCEABLE',
    operation: 'exec',
    path: at,
    rule,
    reason: `does not exist, and its name cannot be reserved: ${reason}`,
    remedy,
  })
}

function shortOf({ at, rule }: Named, { code, reason, remedy }: shortages.Shortage, native: unknown): WorkspaceError {
  return new WorkspaceError({
    code: code === 'EIO' ? 'ENOEXEC' : code,
    operation: 'exec',
    path: at,
    rule,
    reason: `does not exist, and its name cannot be reserved: ${reason}`,
    remedy,
    native,
  })
}
