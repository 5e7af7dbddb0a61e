import type { CommandRule, RefusedCommand } from '@ws/shell-tools'

/** Commands that read and write text, beside those of `@ws/shell-tools`. */
export const textRules: Readonly<Record<string, CommandRule | RefusedCommand>> = {
  expand: { valued: 't' },
  join: 'it takes input that is not sorted; use awk',
  md5sum: { flags: 'c' },
  rg: 'it was not compared with the real command; use grep -r',
  sha1sum: {},
  sha256sum: {},
  strings: {},
}
