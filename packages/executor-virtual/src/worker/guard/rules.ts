import { curlOptions } from '../tools/curl.ts'
import { cutOptions } from '../tools/cut.ts'
import { lsOptions } from '../tools/ls.ts'
import { pasteOptions, readlinkOptions, realpathOptions } from '../tools/paths.ts'
import { sortOptions } from '../tools/sort.ts'
import { grepOptions } from '../tools/grep/options.ts'
import { headOptions, uniqOptions, wcOptions } from '../tools/text.ts'
import { trOptions } from '../tools/tr.ts'
import { xargsOptions } from '../tools/xargs.ts'
import { commOptions, foldOptions, nlOptions } from '../tools/lines.ts'
import { odOptions } from '../tools/od.ts'
import { mvOptions, rmOptions } from '../tools/remove.ts'
import { statOptions } from '../tools/stat.ts'
import { fileRules } from './file-rules.ts'
import type { CommandRule, RefusedCommand } from './rule.ts'
import { otherRules } from './other-rules.ts'
import { textRules } from './text-rules.ts'

/** One entry for each command; a command without one is refused. */
export const commandRules: Readonly<Record<string, CommandRule | RefusedCommand>> = {
  awk: { raw: true },
  comm: commOptions,
  curl: curlOptions,
  cut: cutOptions,
  // find takes words, not options, and looks at them itself.
  find: { raw: true },
  egrep: grepOptions,
  fgrep: grepOptions,
  fold: foldOptions,
  grep: grepOptions,
  head: headOptions,
  ls: lsOptions,
  mv: mvOptions,
  nl: nlOptions,
  od: odOptions,
  paste: pasteOptions,
  readlink: readlinkOptions,
  realpath: realpathOptions,
  rev: {},
  rm: rmOptions,
  sed: { raw: true },
  sort: sortOptions,
  stat: statOptions,
  tac: {},
  tail: headOptions,
  tr: trOptions,
  uniq: {
    ...uniqOptions,
    refuse: ({ operands }) => (operands.length > 1 ? 'use a redirection for the output' : undefined),
  },
  wc: wcOptions,
  xargs: xargsOptions,
  ...fileRules,
  ...textRules,
  ...otherRules,
}
