import type { Executor } from '@ws/core/executor'
import { defineConfinedExecutor } from '@ws/sandbox'

import { attachSanitize } from './attach.ts'
import { resolveOptions, type SanitizeExecutorOptions } from './options.ts'
import { probeSanitize } from './probe.ts'

const createExecutor = defineConfinedExecutor({
  name: 'sanitize',
  programs: ['perl'],
  probe: probeSanitize,
  attach: (target, machine, options) => attachSanitize({ ...target, ...machine, options }),
  async createScratch({ owner }) {
    // Only here, so that an adapter is loaded where one is needed.
    const { createScratchAdapter } = await import('@ws/adapter-local')
    return createScratchAdapter({ owner })
  },
})

/**
 * Runs **trusted** commands directly, with their paths mapped: the explicit last resort, where there is neither
 * bubblewrap nor proot. No view, and no boundary but Landlock where there is Landlock. A command that it cannot prove
 * to stay inside, and to do here what it does in a view, is refused with the reason.
 *
 * @throws WorkspaceError `EINVAL` for options without a meaning.
 */
export function createSanitizeExecutor(options: SanitizeExecutorOptions = {}): Executor {
  return createExecutor(resolveOptions(options))
}
