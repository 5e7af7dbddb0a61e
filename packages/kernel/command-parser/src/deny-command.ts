import { rules } from '@ws/core'
import type { CommandRule } from '@ws/core/executor'

import { parseCommands } from './commands.ts'

/** `rules.denyCommand` with {@link parseCommands} as its parser: a guard rail, and no boundary. */
export function denyCommand(
  denied: readonly string[] | CommandRule['test'],
  options: Omit<Parameters<typeof rules.denyCommand>[1], 'parser'> = {},
): CommandRule {
  return rules.denyCommand(denied, { ...options, parser: parseCommands })
}
