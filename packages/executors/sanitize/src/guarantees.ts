import { type Guarantees, noGuarantees } from '@ws/core/executor'

export interface Machine {
  /** Landlock's ABI; 0 without Landlock. */
  readonly landlockAbi: number
}

/** From this ABI on, Landlock refuses truncation by path. With an older ABI, commands could destroy content outside. */
export const neededAbi = 3

/** The check of the command text gives no guarantee. Landlock protects content outside, and read-only mounts including their names. */
export function guaranteesOf({ landlockAbi }: Machine): Guarantees {
  return landlockAbi >= neededAbi ? { ...noGuarantees, fileContent: 'kernel', readOnlyMounts: 'kernel' } : noGuarantees
}
