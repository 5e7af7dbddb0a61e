import type { CommandRule, RefusedCommand } from './rule.ts'

/** Commands that read and write text. */
export const textRules: Readonly<Record<string, CommandRule | RefusedCommand>> = {
  awk: { raw: true },
  base64: { flags: 'd', valued: 'w', long: ['decode'] },
  cat: { flags: 'nbAetsvET' },
  column: { flags: 't', valued: 's' },
  comm: { flags: '123' },
  diff: { flags: 'uqrbwic', long: ['brief', 'unified'] },
  egrep: { raw: true },
  expand: { valued: 't' },
  fgrep: { raw: true },
  fold: { flags: 's', valued: 'w' },
  grep: { raw: true },
  join: { valued: '12tveoa' },
  md5sum: { flags: 'c' },
  nl: { valued: 'bwsvi' },
  od: { flags: 'cx', valued: 'At' },
  paste: { flags: 's', valued: 'd' },
  rev: {},
  sed: { raw: true },
  sha1sum: {},
  sha256sum: {},
  strings: {},
  unexpand: { flags: 'a' },
}
