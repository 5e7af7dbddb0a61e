import { type CommandLimits, WorkspaceError } from '@ws/core'
import type { LimitField } from '@ws/core/executor'
import { readFileSync } from 'node:fs'

import { withSpareDescriptor } from '@ws/process'

/** Names of `/proc/self/limits`. */
const kernelNames: Readonly<Record<Exclude<LimitField, 'scratchBytes'>, string>> = {
  cpuSeconds: 'Max cpu time',
  memoryBytes: 'Max address space',
  fileBytes: 'Max file size',
  processes: 'Max processes',
  openFiles: 'Max open files',
}

/**
 * Refuses limits that are wider than this process's own: a hard limit can be lowered only, so the narrower one would hold
 * in silence.
 *
 * @throws WorkspaceError `EUNENFORCEABLE`
 */
export function checkAgainstOwn(limits: CommandLimits, operation = 'exec'): void {
  const fields = Object.keys(kernelNames) as (keyof typeof kernelNames)[]
  if (fields.every((field) => limits[field] === undefined)) return
  const own = withSpareDescriptor(() => readFileSync('/proc/self/limits', 'latin1'))
  for (const field of fields) {
    const wanted = limits[field]
    const hard = Number(new RegExp(`^${kernelNames[field]} +\\S+ +(\\d+)`, 'm').exec(own)?.[1] ?? Infinity)
    if (wanted === undefined || wanted <= hard) continue
    throw new WorkspaceError({
      code: 'EUNENFORCEABLE',
      operation,
      reason: `the limit \`${field}\` is wider than that of this process itself (${hard}), which commands inherit`,
      remedy: `give at most ${hard}, or start this process with a wider hard limit (\`ulimit -H\`)`,
    })
  }
}
