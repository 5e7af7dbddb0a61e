import type { Tool } from './contract.ts'
import type { CommandRule } from './rule.ts'
import { awk } from './tools/awk/awk.ts'
import { base64, base64Options } from './tools/base64.ts'
import { cat, catOptions } from './tools/cat.ts'
import { chmod } from './tools/chmod.ts'
import { column, columnOptions } from './tools/column.ts'
import { cut, cutOptions } from './tools/cut.ts'
import { diff, diffOptions } from './tools/diff/diff.ts'
import { find } from './tools/find/find.ts'
import { grepWith } from './tools/grep/grep.ts'
import { grepOptions } from './tools/grep/options.ts'
import { jq, jqOptions } from './tools/jq.ts'
import { comm, commOptions, fold, foldOptions, nl, nlOptions, rev } from './tools/lines.ts'
import { ln, lnOptions } from './tools/ln.ts'
import { ls, lsOptions } from './tools/ls.ts'
import { mktemp, mktempOptions } from './tools/mktemp.ts'
import { basename, basenameOptions, dirname } from './tools/names.ts'
import { od, odOptions } from './tools/od.ts'
import { paste, pasteOptions, readlink, readlinkOptions, realpath, realpathOptions } from './tools/paths.ts'
import { mv, mvOptions, rm, rmOptions } from './tools/remove.ts'
import { sed } from './tools/sed/sed.ts'
import { sort, sortOptions } from './tools/sort.ts'
import { stat, statOptions } from './tools/stat.ts'
import { head, headOptions, tac, tail, uniq, uniqOptions, wc, wcOptions } from './tools/text.ts'
import { tr, trOptions } from './tools/tr.ts'
import { xargs, xargsOptions } from './tools/xargs.ts'

/** A command with its supported forms. The host refuses all other forms. */
export interface ShellTool {
  readonly run: Tool
  readonly rule: CommandRule
}

const raw: CommandRule = { raw: true }

const uniqRule: CommandRule = {
  ...uniqOptions,
  refuse: ({ operands }) => (operands.length > 1 ? 'use a redirection for the output' : undefined),
}

const columnRule: CommandRule = {
  ...columnOptions,
  refuse: ({ options }) => (options.some(({ name }) => name === '-t') ? undefined : 'use -t'),
}

const lnRule: CommandRule = {
  ...lnOptions,
  refuse: ({ options, operands }) => {
    if (!options.some(({ name }) => name === '-s')) return 'there are no hard links here; use -s, or cp'
    return operands.includes('') ? 'an empty name' : undefined
  },
}

export const shellTools: Readonly<Record<string, ShellTool>> = {
  awk: { run: awk, rule: raw },
  base64: { run: base64, rule: base64Options },
  basename: { run: basename, rule: basenameOptions },
  cat: { run: cat, rule: catOptions },
  chmod: { run: chmod, rule: raw },
  column: { run: column, rule: columnRule },
  comm: { run: comm, rule: commOptions },
  cut: { run: cut, rule: cutOptions },
  diff: { run: diff, rule: diffOptions },
  dirname: { run: dirname, rule: {} },
  egrep: { run: grepWith(['E']), rule: grepOptions },
  fgrep: { run: grepWith(['F']), rule: grepOptions },
  find: { run: find, rule: raw },
  fold: { run: fold, rule: foldOptions },
  grep: { run: grepWith([]), rule: grepOptions },
  head: { run: head, rule: headOptions },
  jq: { run: jq, rule: jqOptions },
  ln: { run: ln, rule: lnRule },
  ls: { run: ls, rule: lsOptions },
  mktemp: { run: mktemp, rule: mktempOptions },
  mv: { run: mv, rule: mvOptions },
  nl: { run: nl, rule: nlOptions },
  od: { run: od, rule: odOptions },
  paste: { run: paste, rule: pasteOptions },
  readlink: { run: readlink, rule: readlinkOptions },
  realpath: { run: realpath, rule: realpathOptions },
  rev: { run: rev, rule: {} },
  rm: { run: rm, rule: rmOptions },
  sed: { run: sed, rule: raw },
  sort: { run: sort, rule: sortOptions },
  stat: { run: stat, rule: statOptions },
  tac: { run: tac, rule: {} },
  tail: { run: tail, rule: headOptions },
  tr: { run: tr, rule: trOptions },
  uniq: { run: uniq, rule: uniqRule },
  wc: { run: wc, rule: wcOptions },
  xargs: { run: xargs, rule: xargsOptions },
}
