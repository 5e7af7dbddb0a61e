import { WorkspaceError } from '@ws/core'

/**
 * For executors whose commands share the network of this machine: refuses a list of hosts before anything else is looked at.
 *
 * @throws WorkspaceError `EUNENFORCEABLE`
 */
export function refuseNetworkList(options: unknown, operation: string): void {
  if (typeof options !== 'object' || options === null || !('network' in options)) return
  if (typeof options.network !== 'object' || options.network === null) return
  throw new WorkspaceError({
    code: 'EUNENFORCEABLE',
    operation,
    reason: 'a list of hosts (`network`) takes a network namespace, which this executor does not make',
    remedy: 'use `createBubblewrapExecutor`, which holds it, or leave `network` out',
  })
}
