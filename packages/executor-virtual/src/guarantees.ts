import { type GuaranteeLevel, guaranteeFields, type Guarantees } from '@ws/core/executor'

import type { ResolvedOptions } from './options.ts'

const interpreted = Object.fromEntries(
  guaranteeFields.map((field) => [field, 'interpreter' satisfies GuaranteeLevel]),
) as Record<keyof Guarantees, 'interpreter'>

/** There is no process: every effect of a command is a workspace operation, or a download from a listed host. */
export function guaranteesOf({ network }: Pick<ResolvedOptions, 'network'>): Guarantees {
  return network === undefined ? interpreted : { ...interpreted, network: 'names' }
}
