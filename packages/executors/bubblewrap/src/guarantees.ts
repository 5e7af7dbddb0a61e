import type { Guarantees } from '@ws/core/executor'

import type { ResolvedOptions } from './options.ts'

export function guaranteesOf({ network, unixSockets }: Pick<ResolvedOptions, 'network' | 'unixSockets'>): Guarantees {
  // Abstract Unix sockets belong to the network namespace: commands on the host's network can reach abstract sockets of the host.
  const shared = network === 'host' ? 'none' : 'kernel'
  return {
    fileContent: 'kernel',
    fileMetadata: 'kernel',
    sockets: unixSockets === 'none' ? 'kernel' : shared,
    network: typeof network === 'object' ? 'names' : shared,
    processes: 'kernel',
    readOnlyMounts: 'kernel',
    subtrees: 'kernel',
    deniedSubtrees: 'kernel',
    apiRules: 'none',
  }
}
