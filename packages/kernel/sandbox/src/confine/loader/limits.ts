import { invalid } from '../../errors.ts'
import type { Field } from './encode.ts'

/** Limits of each process (not of the tree), as in `setrlimit`. */
export interface ProcessLimits {
  readonly fileBytes?: number | undefined
  /** Address space in bytes. Programs that reserve much more than they use (Node, Go) need several GiB. */
  readonly addressSpaceBytes?: number | undefined
  readonly cpuSeconds?: number | undefined
  readonly openFiles?: number | undefined
  /** Size of a core file in bytes. Default 0: no core file remains in the workspace. */
  readonly coreBytes?: number | undefined
  /** Number of processes of this uid, in all commands together. The kernel ignores this limit for root. */
  readonly processes?: number | undefined
}

const resources = {
  cpuSeconds: 0,
  fileBytes: 1,
  coreBytes: 4,
  processes: 6,
  openFiles: 7,
  addressSpaceBytes: 9,
} as const satisfies Record<keyof ProcessLimits, number>

export function limitFields(limits: ProcessLimits): Field[] {
  const withDefaults: ProcessLimits = { ...limits, coreBytes: limits.coreBytes ?? 0 }
  const fields: Field[] = []
  for (const [name, resource] of Object.entries(resources)) {
    const value = withDefaults[name as keyof ProcessLimits]
    if (value === undefined) continue
    if (!Number.isSafeInteger(value) || value < 0) throw invalid('exec', `the limit \`${name}\` must be a whole number`)
    fields.push(['r', `${resource},${value}`])
  }
  return fields
}
