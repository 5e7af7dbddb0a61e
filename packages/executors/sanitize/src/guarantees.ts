import { type Guarantees, noGuarantees } from '@ws/core/executor'

/** The machine's abilities that commands run with. */
export interface Machine {
  /** 0: without Landlock. */
  readonly landlockAbi: number
}

/** Landlock's ABI from which cutting a file off by its path is refused too: below, content could be destroyed. */
export const neededAbi = 3

/**
 * Reading and mapping a command holds nothing against it. Only the kernel holds: under Landlock, the content of files
 * outside, and content and names in read-only mounts. Nothing else is claimed. Arguments of a trusted program are not even read.
 */
export function guaranteesOf({ landlockAbi }: Machine): Guarantees {
  return landlockAbi >= neededAbi ? { ...noGuarantees, fileContent: 'kernel', readOnlyMounts: 'kernel' } : noGuarantees
}
