import type { CommandRule, RefusedCommand } from './rule.ts'
import { sedRule } from './sed.ts'

/** Commands that read and write text; those of our own have their options beside them. */
export const textRules: Readonly<Record<string, CommandRule | RefusedCommand>> = {
  base64: { flags: 'd', valued: 'w', long: ['decode'] },
  cat: { flags: 'n' },
  column: {
    flags: 't',
    valued: 's',
    refuse: ({ options }) => (options.some(({ name }) => name === '-t') ? undefined : 'use -t'),
  },
  diff: { flags: 'q', long: ['brief'] },
  expand: { valued: 't' },
  join: { valued: '12t', flags: '' },
  md5sum: { flags: 'c' },
  paste: {
    flags: 's',
    valued: 'd',
    refuse: ({ options }) => {
      const list = options.findLast(({ name }) => name === '-d')?.value ?? ''
      return list.replaceAll('\\t', '').includes('\\') ? 'escapes other than `\\t` in -d' : undefined
    },
  },
  rg: 'it was not compared with the real command; use grep -r',
  sed: sedRule,
  sha1sum: {},
  sha256sum: {},
  strings: {},
}
