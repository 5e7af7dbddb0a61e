/** Limits of a command. All are whole numbers of at least 1; absent: none. */
export interface CommandLimits {
  /** Processor time in seconds. A process beyond it gets SIGXCPU, and SIGKILL a second later. */
  readonly cpuSeconds?: number | undefined
  /** Memory in bytes. Per process it is address space: Node, Go and Java need several GiB. For a `cgroup` it is memory in use. */
  readonly memoryBytes?: number | undefined
  /** Largest file to write, in bytes. A larger write gets SIGXFSZ, or EFBIG if ignored. */
  readonly fileBytes?: number | undefined
  /** Processes and threads at the same time; `fork` then fails with EAGAIN. */
  readonly processes?: number | undefined
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

/** How an executor enforces a limit on this machine. */
export interface LimitReport {
  readonly field: LimitField
  /** `file-system`: by the size of a file system in memory. `none`: a command with this limit is refused. */
  readonly heldBy: 'cgroup' | 'rlimit' | 'file-system' | 'none'
  /** `tree`: everything a command starts, together. `process`: each process. `uid`: all processes of the user, also of other commands. */
  readonly scope?: 'tree' | 'process' | 'uid' | undefined
  /** A condition, the reason, or the remedy. */
  readonly note?: string | undefined
}
