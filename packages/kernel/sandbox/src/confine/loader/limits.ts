import { invalid } from '../../errors.ts'
import type { Field } from './encode.ts'

/** Limits of each process (not of the tree), as `setrlimit` knows them. */
export interface ProcessLimits {
  readonly fileBytes?: number | undefined
  /** Address space in bytes. Programs that reserve much and use little (Node, Go) need several GiB. */
  readonly addressSpaceBytes?: number | undefined
  readonly cpuSeconds?: number | undefined
  readonly openFiles?: number | undefined
  /** Core file in bytes. Default 0: no core file is left in the workspace. */
  readonly coreBytes?: number | undefined
  /** Number of processes of this uid, over all commands; ignored for root. */
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
