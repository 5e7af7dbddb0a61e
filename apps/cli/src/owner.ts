import type { Owner } from '@ws/core/adapter'

/** The default user of checks: this user. For root: an ordinary user, without an entry in `/etc/passwd`. */
export function ordinaryOwner(): Owner {
  const uid = process.getuid?.() ?? 1000
  return uid === 0 ? { uid: 1000, gid: 1000 } : { uid, gid: process.getgid?.() ?? uid }
}
