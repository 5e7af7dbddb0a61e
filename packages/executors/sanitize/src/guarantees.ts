import { type Guarantees, noGuarantees } from '@ws/core/executor'

export interface Machine {
  /** 0: without Landlock. */
  readonly landlockAbi: number
}

/** From this ABI on Landlock refuses truncation by path; before, content could be destroyed. */
export const neededAbi = 3

/** Reading a command protects nothing. Under Landlock the kernel holds outside content, and read-only mounts with their names. */
export function guaranteesOf({ landlockAbi }: Machine): Guarantees {
  return landlockAbi >= neededAbi ? { ...noGuarantees, fileContent: 'kernel', readOnlyMounts: 'kernel' } : noGuarantees
}
