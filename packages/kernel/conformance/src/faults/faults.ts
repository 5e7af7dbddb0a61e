import type { Fault } from './fault.ts'
import { linkFaults } from './link-faults.ts'
import { otherFaults } from './other-faults.ts'
import { writeFaults } from './write-faults.ts'

/** Adapters that are each wrong in one way. The kit must catch each, so that no promise goes untested. */
export const faults: readonly Fault[] = [...linkFaults, ...writeFaults, ...otherFaults]
