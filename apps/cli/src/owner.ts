import type { Owner } from '@ws/core/adapter'

/** The user that checks run as by default: this user, or as root an ordinary one, who needs no entry anywhere. */
export function ordinaryOwner(): Owner {
  const uid = process.getuid?.() ?? 1000
  return uid === 0 ? { uid: 1000, gid: 1000 } : { uid, gid: process.getgid?.() ?? uid }
}
