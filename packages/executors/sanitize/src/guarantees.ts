import { type Guarantees, noGuarantees } from '@ws/core/executor'

export interface Machine {
  /** 0: without Landlock. */
  readonly landlockAbi: number
}

/** From this ABI on, Landlock refuses truncation by path. With older ABIs, commands could destroy outside content. */
export const neededAbi = 3

/** The check of the text protects nothing. Under Landlock, the kernel protects outside content and read-only mounts, including names. */
export function guaranteesOf({ landlockAbi }: Machine): Guarantees {
  return landlockAbi >= neededAbi ? { ...noGuarantees, fileContent: 'kernel', readOnlyMounts: 'kernel' } : noGuarantees
}
