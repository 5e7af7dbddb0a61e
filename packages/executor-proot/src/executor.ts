import type { Executor } from '@ws/core/executor'
import { attachCgroup, defineConfinedExecutor } from '@ws/sandbox'

import { attachProot } from './attach.ts'
import { type ProotExecutorOptions, resolveOptions } from './options.ts'
import { probeProot } from './probe.ts'
import { sweepRuntimeDirectories } from './runtime-directory.ts'

const createExecutor = defineConfinedExecutor({
  name: 'proot',
  programs: ['proot', 'perl', 'setpriv', 'unshare'],
  probe: probeProot,
  attach(target, machine, options) {
    sweepRuntimeDirectories()
    return attachProot({ ...target, machine, options, cgroup: attachCgroup(options.cgroup) })
  },
})

/**
 * Runs commands in proot: a **view, not a boundary**. Works without user namespaces, where bubblewrap does not. The
 * guarantees depend on the machine, above all on Landlock: ask `probe()`.
 *
 * @throws WorkspaceError `EINVAL` for options without a meaning.
 */
export function createProotExecutor(options: ProotExecutorOptions = {}): Executor {
  return createExecutor(resolveOptions(options))
}
