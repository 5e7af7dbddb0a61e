import type { Executor } from '@ws/core/executor'
import { defineExecutor, Reserve } from '@ws/sandbox'

import { attachContainer, type FoundEngine } from './driver.ts'
import { type ContainerExecutorOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { guaranteesOf, probeContainer } from './probe.ts'

const createExecutor = defineExecutor<ResolvedOptions, FoundEngine>({
  name: 'container',
  programs: ['dockerd', 'podman'],
  probe: probeContainer,
  guarantees: guaranteesOf,
  async attach(target, found, options) {
    await Reserve.sweepReserved()
    return attachContainer(target, found, options)
  },
})

/**
 * Runs commands in containers of Docker or Podman on this machine: one for each set of mounts, with the image's programs and no network.
 * Commands run as the workspace's owner, without capabilities, and never as root. The kernel enforces the boundary.
 * @throws WorkspaceError `EINVAL` for an option that is not valid
 */
export function createContainerExecutor(options: ContainerExecutorOptions = {}): Executor {
  return createExecutor(resolveOptions(options))
}
