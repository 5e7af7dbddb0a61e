import { WorkspaceError, type Owner } from '@ws/core'

const remedy =
  'give the workspace a directory of an ordinary user, or name one: createLocalAdapter({ root, owner: { uid, gid } })'

/**
 * Whom commands run as: the workspace's owner. Never uid 0, since what root leaves behind in a workspace (a setuid
 * program, a device) works on the host.
 *
 * @throws WorkspaceError `ENOEXECUTOR` when there is no such user, or this process may not become it.
 */
export function resolveOwner(owner: Owner | undefined, operation = 'attach'): Owner {
  const fail = (reason: string, advice = remedy): never => {
    throw new WorkspaceError({ code: 'ENOEXECUTOR', operation, reason, remedy: advice })
  }
  const uid = process.getuid?.() ?? 0
  const gid = process.getgid?.() ?? 0
  if (uid !== 0) {
    if (owner === undefined || owner.uid === uid) return { uid, gid }
    return fail(
      `commands would have to run as uid ${owner.uid}, and this process is uid ${uid}`,
      'run as the owner of the workspace, or give its directory to this user',
    )
  }
  if (owner === undefined) return fail('commands never run as root, and the workspace names no owner')
  if (owner.uid === 0) return fail('commands never run as root, and root owns the workspace')
  if (!Number.isInteger(owner.uid) || !Number.isInteger(owner.gid) || owner.uid < 0 || owner.gid < 0)
    return fail('the owner of the workspace is no pair of numbers')
  return owner
}
