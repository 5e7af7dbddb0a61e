import { type CommandRule, shellTools } from '@ws/shell-tools'

import { curlOptions } from '../tools/curl.ts'
import { fileRules } from './file-rules.ts'
import { otherRules } from './other-rules.ts'

const textRules: Readonly<Record<string, CommandRule | string>> = {
  expand: { valued: 't' },
  join: 'it takes input that is not sorted; use awk',
  md5sum: { flags: 'c' },
  rg: 'it was not compared with the real command; use grep -r',
  sha1sum: {},
  sha256sum: {},
  strings: {},
}

/** Rules for commands. A command without an entry is refused. */
export const commandRules: Readonly<Record<string, CommandRule | string>> = {
  ...Object.fromEntries(Object.entries(shellTools).map(([name, { rule }]) => [name, rule])),
  curl: curlOptions,
  ...fileRules,
  ...textRules,
  ...otherRules,
}
