import type { Fault } from './fault.ts'
import { linkFaults } from './link-faults.ts'
import { otherFaults } from './other-faults.ts'
import { writeFaults } from './write-faults.ts'

/**
 * Adapters that are each wrong in one way, on top of a correct one that offers everything. The kit must catch each one:
 * a change of the kit shows at once when a promise is no longer tested.
 */
export const faults: readonly Fault[] = [...linkFaults, ...writeFaults, ...otherFaults]
