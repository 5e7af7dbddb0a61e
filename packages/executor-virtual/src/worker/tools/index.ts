import { awk } from './awk/awk.ts'
import { base64 } from './base64.ts'
import { bash } from './bash.ts'
import { cat } from './cat.ts'
import { chmod } from './chmod.ts'
import { column } from './column.ts'
import { cp } from './cp.ts'
import { cut } from './cut.ts'
import { sh } from './dash.ts'
import { diff } from './diff/diff.ts'
import { env, printenv } from './environment.ts'
import { find } from './find/find.ts'
import { grepWith } from './grep/grep.ts'
import { jq } from './jq.ts'
import { comm, fold, nl, rev } from './lines.ts'
import { mktemp } from './mktemp.ts'
import { timeout } from './timeout.ts'
import { ln } from './ln.ts'
import { ls } from './ls.ts'
import { basename, dirname } from './names.ts'
import { od } from './od.ts'
import { paste, readlink, realpath } from './paths.ts'
import { mv, rm } from './remove.ts'
import { sed } from './sed/sed.ts'
import { sleep } from './sleep.ts'
import { sort } from './sort.ts'
import { stat } from './stat.ts'
import { head, tac, tail, uniq, wc } from './text.ts'
import type { Tool } from './tool.ts'
import { tr } from './tr.ts'
import { checksum, gzip, tar } from './wrapped.ts'
import { xargs } from './xargs.ts'

/** Commands of our own: those of just-bash give other results too often to be of use. */
export const tools: Readonly<Record<string, Tool>> = {
  awk,
  base64,
  bash,
  basename,
  cat,
  chmod,
  column,
  comm,
  cp,
  cut,
  diff,
  dirname,
  egrep: grepWith(['E']),
  env,
  fgrep: grepWith(['F']),
  find,
  fold,
  grep: grepWith([]),
  gunzip: gzip,
  gzip,
  head,
  jq,
  ln,
  ls,
  mktemp,
  mv,
  nl,
  md5sum: checksum,
  od,
  paste,
  printenv,
  readlink,
  realpath,
  rev,
  rm,
  sed,
  sh,
  sha1sum: checksum,
  sha256sum: checksum,
  sleep,
  sort,
  stat,
  tac,
  tail,
  tar,
  timeout,
  tr,
  uniq,
  wc,
  xargs,
}
