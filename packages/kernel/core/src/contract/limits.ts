/** Limits of a command. All are whole numbers of at least 1; absent: none. */
export interface CommandLimits {
  /** Processor time in seconds. A process beyond it gets SIGXCPU, and SIGKILL a second later. */
  readonly cpuSeconds?: number | undefined
  /**
   * Memory in bytes. Where processes are limited and not the tree, it is address space: programs that reserve much and
   * use little (Node, Go, Java) need several GiB. Where the tree is limited (`cgroup`), it is memory in use, and a
   * process that takes more is killed.
   */
  readonly memoryBytes?: number | undefined
  /**
   * Largest file that can be written, in bytes. A process that writes more gets SIGXFSZ, or EFBIG where it ignores
   * that.
   */
  readonly fileBytes?: number | undefined
  /** Processes and threads at the same time; `fork` then fails with EAGAIN. */
  readonly processes?: number | undefined
  /** Open descriptors. */
  readonly openFiles?: number | undefined
  /** Bytes that `/tmp` and `/dev/shm` hold, each. */
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

/** By what, and over what, an executor holds a limit on this machine. */
export interface LimitReport {
  readonly field: LimitField
  /** `file-system`: by the size of a file system in memory. `none`: a command that asks for it is refused. */
  readonly heldBy: 'cgroup' | 'rlimit' | 'file-system' | 'none'
  /**
   * `tree`: all that the command starts, together. `process`: each process for itself. `uid`: all processes of the user
   * that commands run as, those of other commands included. Absent where it is not held.
   */
  readonly scope?: 'tree' | 'process' | 'uid' | undefined
  /** Under which condition it is held, why it is not, or the remedy. */
  readonly note?: string | undefined
}
