import type { CommandRule, RefusedCommand } from './rule.ts'

/** Commands that make, change, remove or describe files. */
export const fileRules: Readonly<Record<string, CommandRule | RefusedCommand>> = {
  basename: { flags: 'a', valued: 's' },
  chmod: { flags: 'R' },
  cp: { flags: 'rRfvpan', long: ['recursive', 'force'] },
  dirname: {},
  du: 'the file API does not know what files take on a disk; use `find . -type f -printf "%s\\n"`',
  file: 'it was not compared with the real command; use `head -c` and `od`',
  gunzip: { flags: 'ckf' },
  gzip: { flags: 'cdkf' },
  ln: { flags: 'sfnv' },
  mkdir: { flags: 'pv', valued: 'm', long: ['parents'] },
  mv: { flags: 'fnv' },
  readlink: { flags: 'fem' },
  rm: { flags: 'rRfv', long: ['recursive', 'force'] },
  rmdir: { flags: 'p' },
  split: { valued: 'lba' },
  stat: { valued: 'c', long: ['format=', 'printf='] },
  tar: { raw: true },
  tee: { flags: 'a' },
  touch: { flags: 'acm', valued: 'd' },
  tree: 'it was not compared with the real command; use `find`',
  zcat: {},
}
