import type { Executor } from '@ws/core/executor'
import { defineExecutor } from '@ws/sandbox'

import { attachSanitize } from './attach.ts'
import { guaranteesOf, type Machine } from './guarantees.ts'
import { type ResolvedOptions, resolveOptions, type SanitizeExecutorOptions } from './options.ts'
import { probeSanitize } from './probe.ts'

const createExecutor = defineExecutor<ResolvedOptions, Machine>({
  name: 'sanitize',
  programs: ['perl'],
  probe: probeSanitize,
  guarantees: guaranteesOf,
  attach: attachSanitize,
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
