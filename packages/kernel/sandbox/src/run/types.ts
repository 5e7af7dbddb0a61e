import type { KeptContent } from './descriptors.ts'
import type { PipePair } from './pipe-maker.ts'

/**
 * The source of a child's descriptor:
 *
 * - a number: a descriptor of this process. The child gets a duplicate, and the caller closes the original;
 * - bytes: a new, unnamed file with that content; {@link KeptContent}: such a file, written once for many children;
 * - `'pipe'`: a connected socket, whose other end is in {@link RunningProcess.pipes};
 * - a {@link PipePair}: the child gets the write end. Chunks from the read end are valid until the listener returns. The run closes both;
 * - `'null'`: `/dev/null`.
 */
export type DescriptorSource = number | Uint8Array | KeptContent | 'pipe' | 'null' | PipePair

/** Descriptors besides 0–2. Keys: their numbers in the child (3 to 255). */
export type ExtraDescriptors = ReadonlyMap<number, DescriptorSource>

/** The standard input of a process. `'pipe'`: the caller writes to {@link RunningProcess.stdin}. */
export type ProcessInput = 'none' | 'pipe' | string | Uint8Array | AsyncIterable<Uint8Array | string>

/** Called with each chunk of output, in order. The chunk is valid until the listener returns. A returned promise pauses reading. */
export type OutputListener = (chunk: Uint8Array) => void | Promise<void>

export interface StartProcessOptions {
  /** The program and its arguments. `argv[0]` must be an absolute path, because `PATH` is not searched. */
  readonly argv: readonly string[]
  /** All variables of the child. Default: none. Do not pass a command's variables to a launcher: `LD_PRELOAD` would run code in it. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Host directory in which the process starts. Default `/`. */
  readonly cwd?: string | undefined
  /** Default `'none'`: `/dev/null`. */
  readonly stdin?: ProcessInput | undefined
  /** As root only: the uid and gid of the process. It gets no supplementary groups. */
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  readonly extraFds?: ExtraDescriptors | undefined
  /** Pipes for standard streams, instead of Node's sockets. The run closes the pipes. */
  readonly stdinPipe?: PipePair | undefined
  readonly stdoutPipe?: PipePair | undefined
  /** The file for reports of the loader or supervisor, from `confineArgv`. Its descriptor is also in `extraFds`. */
  readonly status?: LoaderStatus | undefined
  /** Milliseconds after which the whole tree is killed. Default: no limit. */
  readonly timeout?: number | undefined
  /** Kills the whole tree; `wait()` then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
  /** `'capture'` (default) keeps the first and last bytes in memory. `'stream'`: the caller must read from the start; see `stdout`. */
  readonly output?: 'capture' | 'stream' | undefined
  /** Maximum bytes kept of stdout, and of stderr. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined
  /** Milliseconds between TERM and KILL. Default 500. */
  readonly killGrace?: number | undefined
  /** Milliseconds for open streams after the end of the main process. Default 250. 0: the tree is killed together with the main process. */
  readonly drainGrace?: number | undefined
  readonly onStdout?: OutputListener | undefined
  readonly onStderr?: OutputListener | undefined
  /** Called directly after the start. If it throws, the process is killed. */
  readonly onStarted?: ((pid: number) => void) | undefined
  /** The operation in error messages. Default `exec`. */
  readonly operation?: string | undefined
}

/** The file for reports of a loader or supervisor. Only `confineArgv` makes one. */
export interface LoaderStatus {
  /** A private file for the loader's records. The run closes it. */
  readonly fd: number
  /** True if a supervisor kills the tree. TERM and KILL then go to the supervisor. */
  readonly supervised: boolean
}

export interface CapturedOutput {
  /** UTF-8, invalid bytes as U+FFFD. If truncated, a line gives the number of omitted bytes. */
  readonly text: string
  /** The first bytes; all bytes if none were omitted. */
  readonly head: Uint8Array
  /** The last bytes; empty if none were omitted. */
  readonly tail: Uint8Array
  readonly totalBytes: number
  /** Number of bytes between `head` and `tail` that were not kept. */
  readonly omittedBytes: number
  readonly truncated: boolean
}

export interface ProcessResult {
  /** The exit status, 0–255; `null` if a signal ended the process. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut: boolean
  /** Empty in `'stream'` mode. */
  readonly stdout: CapturedOutput
  readonly stderr: CapturedOutput
  /** Milliseconds from the start to the end of the main process. */
  readonly duration: number
  /** True if some processes could not be killed: stuck in the kernel, or of another uid. */
  readonly survivors: boolean
}

export interface RunningProcess extends AsyncDisposable {
  /** The pid of the process or its supervisor; `undefined` if the start failed. */
  readonly pid: number | undefined
  /** The output in `'stream'` mode, else `undefined`. A slow reader makes the process wait. */
  readonly stdout: import('node:stream').Readable | undefined
  readonly stderr: import('node:stream').Readable | undefined
  /** The input with `stdin: 'pipe'`, else `undefined`. A write after the process has closed it is not an error. */
  readonly stdin: import('node:stream').Writable | undefined
  /** Aborted when the main process has ended. Its tree and streams may still exist. */
  readonly ended: AbortSignal
  /** Aborted when the run stops waiting for a killed tree that is stuck in the kernel 150 ms after the last signal, or works after 5 s. */
  readonly outOfReach: AbortSignal
  /** True if processes of an {@link RunningProcess.outOfReach} tree still live. */
  readonly survivors: boolean
  readonly pipes: ReadonlyMap<number, import('node:stream').Duplex>
  /** Signals the process group, through a supervisor if there is one. `SIGKILL` kills the tree. Returns false after the process's end. */
  kill(signal?: NodeJS.Signals): boolean
  /** Sends SIGTERM to all processes, and SIGKILL after the grace, as a timeout does. */
  askToEnd(): void
  /** Call this after killing the tree by other means than `kill`: `wait` then ends within a limited time. */
  expectEnd(): void
  /**
   * Settles when the main process and its tree have ended and all output is read, or the tree is {@link RunningProcess.outOfReach}.
   * Rejects with `signal.reason` after an abort, and with `ENOEXEC` if the command did not start. Resolves for any exit code.
   */
  wait(): Promise<ProcessResult>
}
