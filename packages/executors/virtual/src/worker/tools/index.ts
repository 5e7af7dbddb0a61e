import { shellTools } from '@ws/shell-tools'

import type { ScriptTool } from '../call.ts'
import { bash } from './bash.ts'
import { cp } from './cp.ts'
import { sh } from './dash.ts'
import { env, printenv } from './environment.ts'
import { printf } from './printf.ts'
import { sleep } from './sleep.ts'
import { timeout } from './timeout.ts'
import { checksum, gzip, tar } from './wrapped.ts'

export const tools: Readonly<Record<string, ScriptTool>> = {
  ...Object.fromEntries(Object.entries(shellTools).map(([name, { run }]) => [name, run])),
  bash,
  cp,
  env,
  gunzip: gzip,
  gzip,
  md5sum: checksum,
  printenv,
  printf,
  sh,
  sha1sum: checksum,
  sha256sum: checksum,
  sleep,
  tar,
  timeout,
}
