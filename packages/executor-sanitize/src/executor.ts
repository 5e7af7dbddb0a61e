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
