import type { Executor } from '@ws/core/executor'
import { defineExecutor, Reserve } from '@ws/sandbox'

import { attachBubblewrap } from './attach.ts'
import { type BubblewrapExecutorOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { guaranteesOf } from './guarantees.ts'
import { authorityFor } from './network/named-network.ts'
import { describeWarm, probeBubblewrap } from './probe/probe.ts'
import type { Programs } from './programs.ts'

const createExecutor = defineExecutor<ResolvedOptions, Programs>({
  name: 'bubblewrap',
  systems: ['linux'],
  programs: ['bwrap', 'proot'],
  probe: probeBubblewrap,
  describe: describeWarm,
  guarantees: (_found, options) => guaranteesOf(options),
  async attach(target, programs, options) {
    await Reserve.sweepReserved()
    return attachBubblewrap(target, programs, options, { authority: await authorityFor(options.network) })
  },
})

/**
 * Runs commands in bubblewrap, with their own namespaces, a tree of the workspace's mounts and system programs, and a system-call filter.
 * A mount at `/` becomes the root, directly or through proot. The kernel enforces the boundary in both forms.
 * Commands run as the workspace's owner, never as root. Call this function from the main thread: a Worker's processes end with the Worker.
 * @throws WorkspaceError `EINVAL` for an option that is not valid
 */
export function createBubblewrapExecutor(options: BubblewrapExecutorOptions = {}): Executor {
  return createExecutor(resolveOptions(options))
}
