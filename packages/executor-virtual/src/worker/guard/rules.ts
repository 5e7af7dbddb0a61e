import { type CommandRule, type RefusedCommand, shellTools } from '@ws/shell-tools'

import { curlOptions } from '../tools/curl.ts'
import { fileRules } from './file-rules.ts'
import { otherRules } from './other-rules.ts'
import { textRules } from './text-rules.ts'

/** One entry for each command; a command without one is refused. */
export const commandRules: Readonly<Record<string, CommandRule | RefusedCommand>> = {
  ...Object.fromEntries(Object.entries(shellTools).map(([name, { rule }]) => [name, rule])),
  curl: curlOptions,
  ...fileRules,
  ...textRules,
  ...otherRules,
}
