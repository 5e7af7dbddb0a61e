/** Limits of a command. All are integers from 1. Absent: no limit. */
export interface CommandLimits {
  /** Processor time in seconds. A process above it gets SIGXCPU, and SIGKILL a second later. */
  readonly cpuSeconds?: number | undefined
  /** Memory in bytes. In a `cgroup`: memory in use. Otherwise: address space, of which Node, Go and Java need several GiB. */
  readonly memoryBytes?: number | undefined
  /** Largest file that a command may write, in bytes. A larger write gets SIGXFSZ, or EFBIG if the signal is ignored. */
  readonly fileBytes?: number | undefined
  /** Processes and threads at the same time. Above the limit, `fork` fails with EAGAIN. */
  readonly processes?: number | undefined
  readonly openFiles?: number | undefined
  /** Size of `/tmp` and of `/dev/shm`, each, in bytes. */
  readonly scratchBytes?: number | undefined
}

export type LimitField = keyof CommandLimits

export const limitFields = [
  'cpuSeconds',
  'memoryBytes',
  'fileBytes',
  'processes',
  'openFiles',
  'scratchBytes',
] as const satisfies readonly LimitField[]

/** How an executor enforces a limit on this machine. */
export interface LimitReport {
  readonly field: LimitField
  /** The mechanism. `file-system`: the size of a file system in memory. `none`: a command with this limit is refused. */
  readonly heldBy: 'cgroup' | 'rlimit' | 'file-system' | 'none'
  /** The processes that share the limit. `tree`: all of the command. `process`: each process alone. `uid`: all of the user. */
  readonly scope?: 'tree' | 'process' | 'uid' | undefined
  /** A condition for the limit, the reason for `none`, or a remedy. */
  readonly note?: string | undefined
}
