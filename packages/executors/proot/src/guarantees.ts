import { type Guarantees, noGuarantees } from '@ws/core/executor'

/** Kernel features that confine commands, found by the probe. */
export interface Confinement {
  /** Landlock's ABI; 0 without Landlock. */
  readonly landlockAbi: number
  /** True if each command runs in its own PID namespace. */
  readonly pidNamespace: boolean
}

/** Features of the machine, found by the probe. */
export interface Machine extends Confinement {
  readonly proot: string
  /** proot's loader, extracted from its program file. */
  readonly loader: Uint8Array
}

/** From this ABI on, Landlock refuses signals to processes outside. */
export const scopedSignals = 6

/**
 * The guarantees of proot:
 * - content: by Landlock, also against a program that is faster than the tracer; without Landlock, by translation;
 * - existence, type, size and times: only by translation, since Landlock does not restrict `stat`;
 * - sockets and network: none. proot does not translate addresses of `sendto`, and Landlock restricts only TCP;
 * - processes: by a PID namespace. Without one, from ABI 6 on, processes outside cannot be signalled, traced or read, only seen;
 * - read-only mounts: by Landlock, for roots outside all writable roots (checked for each command);
 * - denied subtrees: visible as empty entries. Landlock cannot exclude a subtree from the grant of a writable root;
 * - other stricter subtrees: none, since proot has no read-only bind.
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
