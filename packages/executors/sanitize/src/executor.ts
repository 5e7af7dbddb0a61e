import type { Executor } from '@ws/core/executor'
import { defineExecutor } from '@ws/sandbox'

import { attachSanitize } from './attach.ts'
import { guaranteesOf, type Machine } from './guarantees.ts'
import { type ResolvedOptions, resolveOptions, type SanitizeExecutorOptions } from './options.ts'
import { probeSanitize } from './probe.ts'

const createExecutor = defineExecutor<ResolvedOptions, Machine>({
  name: 'sanitize',
  systems: ['linux'],
  programs: ['perl'],
  probe: probeSanitize,
  guarantees: guaranteesOf,
  attach: attachSanitize,
})

/**
 * Runs **trusted** commands directly, with mapped paths: the last resort without bubblewrap and proot. There is no view of the files.
 * Landlock is the only boundary.
 * Refuses a command that may leave the workspace, or whose effect would differ from that in a view.
 * @throws WorkspaceError `EINVAL` for invalid options
 */
export function createSanitizeExecutor(options: SanitizeExecutorOptions = {}): Executor {
  return createExecutor(resolveOptions(options))
}
