import type { CommandRule, RefusedCommand } from './rule.ts'

/** Commands that look at neither files nor text, and programs with a language of their own. */
export const otherRules: Readonly<Record<string, CommandRule | RefusedCommand>> = {
  alias: { raw: true },
  bash: { raw: true },
  date: { raw: true },
  echo: { raw: true },
  env: { raw: true },
  expr: { raw: true },
  false: { raw: true },
  hostname: 'the name of the machine is not known here',
  jq: { raw: true },
  printenv: { raw: true },
  printf: { raw: true },
  pwd: { raw: true },
  rg: { raw: true },
  seq: { raw: true },
  sh: { raw: true },
  sleep: { raw: true },
  sqlite3: { raw: true },
  time: { raw: true },
  timeout: { raw: true },
  true: { raw: true },
  unalias: { raw: true },
  which: { raw: true },
  whoami: { raw: true },
}
