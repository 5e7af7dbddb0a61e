import { rules } from '@ws/core'
import type { CommandRule } from '@ws/core/executor'

import { parseCommands } from './commands.ts'

/** Calls `rules.denyCommand` with the parser {@link parseCommands}: a guard rail, not a boundary. */
export function denyCommand(
  denied: readonly string[] | CommandRule['test'],
  options: Omit<Parameters<typeof rules.denyCommand>[1], 'parser'> = {},
): CommandRule {
  return rules.denyCommand(denied, { ...options, parser: parseCommands })
}
