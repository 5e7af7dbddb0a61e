import { type Guarantees, noGuarantees } from '@ws/core/executor'

/** Kernel features for confining commands, found by the probe. */
export interface Confinement {
  /** Landlock's ABI; 0: without Landlock. */
  readonly landlockAbi: number
  /** Commands run in their own PID namespace. */
  readonly pidNamespace: boolean
}

/** Features of the machine, found by the probe. */
export interface Machine extends Confinement {
  readonly proot: string
  /** proot's loader, extracted from the program. */
  readonly loader: Uint8Array
}

/** From this ABI on Landlock refuses signals to processes outside. */
export const scopedSignals = 6

/**
 * The guarantees of proot:
 * - content: by Landlock, also against a program that outruns the tracer; else by translation;
 * - existence, type, size and times: by translation alone, since Landlock does not restrict `stat`;
 * - sockets and network: none. proot does not translate addresses of `sendto`, and Landlock knows TCP only;
 * - processes: by a PID namespace. Else from ABI 6 on nothing outside can be signalled, traced or read, but used numbers show;
 * - read-only mounts: by Landlock, for roots outside all writable ones (checked for each command);
 * - denied subtrees: shown as empty entries; a writable root cannot be granted without them;
 * - stricter subtrees: none, since proot has no read-only bind.
 */
export function guaranteesOf({ landlockAbi, pidNamespace }: Confinement): Guarantees {
  const landlock = landlockAbi > 0
  return {
    ...noGuarantees,
    fileContent: landlock ? 'kernel' : 'translated',
    fileMetadata: 'translated',
    processes: pidNamespace ? 'kernel' : landlockAbi >= scopedSignals ? 'translated' : 'none',
    readOnlyMounts: landlock ? 'kernel' : 'none',
    deniedSubtrees: 'translated',
  }
}
