import type { Owner } from '@ws/core'

/** Why commands cannot run as somebody, and what helps. */
export interface OwnerProblem {
  readonly reason: string
  readonly remedy: string
}

/** As root and not told otherwise, probes run as this one. */
const ordinary: Owner = { uid: 1000, gid: 1000 }

/** The user that a probe runs as where it names none. */
export function probingOwner(): Owner {
  const uid = process.getuid?.() ?? ordinary.uid
  return uid === 0 ? ordinary : { uid, gid: process.getgid?.() ?? ordinary.gid }
}

/**
 * Whether commands can run as the workspace's owner. Never as uid 0: what root leaves behind in a workspace (a setuid program, a
 * device) works on the host.
 */
export function findOwnerProblem({ uid, gid }: Owner): OwnerProblem | undefined {
  const remedy = 'give the root directory to an ordinary user, or pass `owner: { uid, gid }` to the local adapter'
  if (![uid, gid].every((id) => Number.isInteger(id) && id >= 0))
    return { reason: '`owner` must be two whole numbers, `{ uid, gid }`', remedy }
  if (uid === 0) return { reason: 'commands never run as root, and root owns the workspace', remedy }
  const own = process.getuid?.()
  if (own === 0 || own === uid) return undefined
  return {
    reason: `commands would run as uid ${uid}, and this process is uid ${own}`,
    remedy: 'run as the owner of the workspace, or give its directory to this user',
  }
}
