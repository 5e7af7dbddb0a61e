import type { Executor } from '@ws/core'
import { attachCgroup, createConfinedExecutor } from '@ws/process'

import { attachProot } from './attach.ts'
import { type ProotExecutorOptions, resolveOptions } from './options.ts'
import { probeProot } from './probe.ts'
import { sweepRuntimeDirectories } from './runtime-directory.ts'

/**
 * Runs commands in proot: a **view, not a boundary**. Works without user namespaces, where bubblewrap does not. What is
 * really held depends on the machine, above all on Landlock: ask `probe()`.
 *
 * @throws WorkspaceError `EINVAL` for options without a meaning.
 */
export function createProotExecutor(options: ProotExecutorOptions = {}): Executor {
  const resolved = resolveOptions(options)
  return createConfinedExecutor({
    name: 'proot',
    probe: (target) => probeProot({ ...target, options: resolved }),
    attach(target, machine) {
      sweepRuntimeDirectories()
      return attachProot({ ...target, machine, options: resolved, cgroup: attachCgroup(resolved.cgroup) })
    },
    async createScratch({ owner }) {
      // Only here, so that who never needs it does not load an adapter.
      const { createScratchAdapter } = await import('@ws/adapter-local')
      return createScratchAdapter({ owner })
    },
  })
}
