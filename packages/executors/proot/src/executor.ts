import type { Executor } from '@ws/core/executor'
import { defineExecutor, type ExecutorDriver, Temporary } from '@ws/sandbox'

import { attachProot } from './attach.ts'
import { guaranteesOf, type Machine } from './guarantees.ts'
import { type ProotExecutorOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { probeProot } from './probe.ts'
import { prefix } from './runtime-directory.ts'

export const prootDriver: ExecutorDriver<ResolvedOptions, Machine> = {
  name: 'proot',
  systems: ['linux'],
  programs: ['proot', 'perl', 'setpriv', 'unshare'],
  probe: probeProot,
  guarantees: guaranteesOf,
  attach(target, machine, options) {
    Temporary.sweepRuntimeDirectories(prefix)
    return attachProot(target, machine, options)
  },
}

const createExecutor = defineExecutor(prootDriver)

/**
 * Runs commands in proot: a **view, not a boundary**, without user namespaces. @throws WorkspaceError `EINVAL`
 * The guarantees depend on the machine, especially on Landlock: `probe()` reports them.
 */
export function createProotExecutor(options: ProotExecutorOptions = {}): Executor {
  return createExecutor(resolveOptions(options))
}
