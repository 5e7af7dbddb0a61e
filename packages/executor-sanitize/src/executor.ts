import type { Executor } from '@ws/core'
import { createConfinedExecutor } from '@ws/process'

import { attachSanitize } from './attach.ts'
import { resolveOptions, type SanitizeExecutorOptions } from './options.ts'
import { probeSanitize } from './probe.ts'

/**
 * Runs **trusted** commands directly, with their paths mapped: the explicit last resort, where there is neither bubblewrap
 * nor proot. No view, and no boundary but Landlock where there is Landlock. What it cannot prove to stay inside, and to do
 * here what it does in a view, it refuses with the reason.
 *
 * @throws WorkspaceError `EINVAL` for options without a meaning.
 */
export function createSanitizeExecutor(options: SanitizeExecutorOptions = {}): Executor {
  const resolved = resolveOptions(options)
  return createConfinedExecutor({
    name: 'sanitize',
    probe: (target) => probeSanitize({ ...target, options: resolved }),
    attach: (target, machine) => attachSanitize({ ...target, ...machine, options: resolved }),
    async createScratch({ owner }) {
      // Only here, so that who never needs it does not load an adapter.
      const { createScratchAdapter } = await import('@ws/adapter-local')
      return createScratchAdapter({ owner })
    },
  })
}
