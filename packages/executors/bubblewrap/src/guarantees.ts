import type { Guarantees } from '@ws/core/executor'

import type { ResolvedOptions } from './options.ts'

/** The guarantees of bubblewrap: everything that a kernel can hold, and no rule that only the file API can judge. */
export function guaranteesOf({ network, unixSockets }: Pick<ResolvedOptions, 'network' | 'unixSockets'>): Guarantees {
  // Abstract Unix sockets belong to the network namespace: a command that shares it can reach those of the host.
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
