import { catOptions } from '../tools/cat.ts'
import { base64Options } from '../tools/base64.ts'
import { columnOptions } from '../tools/column.ts'
import { diffOptions } from '../tools/diff/diff.ts'
import type { CommandRule, RefusedCommand } from './rule.ts'

/** Commands that read and write text; those of our own have their options beside them. */
export const textRules: Readonly<Record<string, CommandRule | RefusedCommand>> = {
  base64: base64Options,
  cat: catOptions,
  column: {
    ...columnOptions,
    refuse: ({ options }) => (options.some(({ name }) => name === '-t') ? undefined : 'use -t'),
  },
  diff: diffOptions,
  expand: { valued: 't' },
  join: 'it takes input that is not sorted; use awk',
  md5sum: { flags: 'c' },
  rg: 'it was not compared with the real command; use grep -r',
  sha1sum: {},
  sha256sum: {},
  strings: {},
}
