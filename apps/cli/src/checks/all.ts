import { consistencyChecks } from './consistency.ts'
import { isolationChecks } from './isolation.ts'
import { policyChecks } from './policy.ts'
import { toolChecks } from './tools.ts'
import type { Check } from './types.ts'

/** In the order in which they run and are shown. */
export const allChecks: readonly Check[] = [...consistencyChecks, ...toolChecks, ...policyChecks, ...isolationChecks]
