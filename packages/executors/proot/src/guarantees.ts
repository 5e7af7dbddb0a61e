import { type Guarantees, noGuarantees } from '@ws/core/executor'

/** The kernel's means that hold commands on this machine, as the probe found them. */
export interface Confinement {
  /** Landlock's ABI; 0: commands run without it. */
  readonly landlockAbi: number
  /** Commands run in a PID namespace of their own. */
  readonly pidNamespace: boolean
}

/** The machine's parts that an attached executor runs with; found by the probe. */
export interface Machine extends Confinement {
  /** Host path of proot. */
  readonly proot: string
  /** proot's loader, as it is inside the program. */
  readonly loader: Uint8Array
}

/** ABI from which Landlock refuses signals to processes outside. */
export const scopedSignals = 6

/**
 * The guarantees of proot, field by field:
 *
 * - content: by Landlock, also against a program that outruns the tracer; else by translation;
 * - existence, type, size and times: by translation alone, since Landlock does not restrict `stat`;
 * - sockets and network: not at all. proot does not translate the address of `sendto`, and Landlock knows TCP only;
 * - processes: in a PID namespace by the kernel. Else from ABI 6 on nothing outside can be signalled, traced or read
 *   and nothing survives, but that a process number is in use can be learnt;
 * - read-only mounts: by Landlock, for roots outside all writable ones (which is checked for each command);
 * - denied subtrees: an empty entry is shown at their names, whatever the host saves there; a writable root cannot be granted without them;
 * - stricter subtrees: not at all, since proot has no read-only bind.
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
