import type { Fault } from './fault.ts'
import { forkFaults } from './fork-faults.ts'
import { linkFaults } from './link-faults.ts'
import { otherFaults } from './other-faults.ts'
import { writeFaults } from './write-faults.ts'

export const faults: readonly Fault[] = [...linkFaults, ...writeFaults, ...otherFaults, ...forkFaults]
