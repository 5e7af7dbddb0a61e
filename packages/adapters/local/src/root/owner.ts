import type { HostDirectory, Owner } from '@ws/core/adapter'

import type { Status } from '../host/calls.ts'

export function ownUser(): Owner {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
}

/** The user to work for: `given`, or the directory's owner if this process is root, or this user. `undefined` if only uid 0 remains. */
export function chooseOwner(given: Owner | undefined, root: Status): Owner | undefined {
  if (given !== undefined) return given
  const own = ownUser()
  if (own.uid !== 0) return own
  const owner = { uid: Number(root.uid), gid: Number(root.gid) }
  return owner.uid === 0 ? undefined : owner
}

/** The owner to whom new files must be given, if this process is root. For any other user, new files have the right owner already. */
export function recipientOf(owner: Owner | undefined): Owner | undefined {
  return ownUser().uid === 0 ? owner : undefined
}

const rights = { read: 4, write: 2, execute: 1 } as const

/** Whether mode bits grant a user a right. Access lists and other groups are ignored. */
function may({ uid, gid }: Owner, status: Status, right: keyof typeof rights): boolean {
  const shift = Number(status.uid) === uid ? 6 : Number(status.gid) === gid ? 3 : 0
  return ((Number(status.mode) >> shift) & rights[right]) !== 0
}

export function ownerProblem(
  owner: Owner | undefined,
  directory: Status,
  above: readonly Status[],
): HostDirectory['ownerProblem'] {
  if (owner === undefined) {
    return {
      reason: 'commands never run as root, and root owns the directory',
      remedy: 'pass `owner: { uid, gid }` of an ordinary user, and give the directory to that user',
    }
  }
  const who = `uid ${owner.uid}`
  if (above.some((status) => !may(owner, status, 'execute'))) {
    return {
      reason: `${who} cannot reach the directory, since one above it is closed to it`,
      remedy: 'move the directory, or let all users pass the one above (`chmod a+x`)',
    }
  }
  if (!may(owner, directory, 'execute') || !may(owner, directory, 'read') || !may(owner, directory, 'write')) {
    return {
      reason: `${who} cannot read and write the directory`,
      remedy: `give the directory to that user (\`chown ${owner.uid}:${owner.gid}\`), or pass another \`owner\``,
    }
  }
  return undefined
}

/** The owner of a new root directory: `given`, or an ordinary user if this process is root. `undefined` means this user. */
export function ownerOfNew(given: Owner | undefined, parent: Status): Owner | undefined {
  if (ownUser().uid !== 0) return undefined
  return given ?? chooseOwner(undefined, parent) ?? { uid: 1000, gid: 1000 }
}
