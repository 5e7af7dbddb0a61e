import { quoteForShell } from '@ws/core/executor'

import type { Machine } from '../contract.ts'
import { textFrom } from './text-from.ts'

/** Makes another directory for this package's files where a command has removed it. Returns its name. Never rejects. */
export async function renewState(machine: Machine, state: string): Promise<string | undefined> {
  const make = 'state=$(mktemp -d "${TMPDIR:-/tmp}/ws-XXXXXX") && printf "renewed %s\\n" "$state"'
  const script = `[ -d ${quoteForShell(state)} ] || { ${make}; }`
  const answer = await textFrom(machine, ['sh', '-c', script]).catch(() => '') // the machine is lost
  return /^renewed (\/[\w./-]+)$/mu.exec(answer)?.[1]
}
