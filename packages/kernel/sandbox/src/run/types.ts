import type { KeptContent } from './descriptors.ts'
import type { PipePair } from './pipe-maker.ts'

/**
 * The source of a child's descriptor:
 *
 * - a number: a descriptor of this process, duplicated; the caller closes its own;
 * - bytes: a fresh, unlinked file with that content; {@link KeptContent}: the same, written once for many children;
 * - `'pipe'`: a connected socket, whose other end is in {@link RunningProcess.pipes};
 * - a {@link PipePair}: the child has its write end; `data` of the read end is valid until the listener returns; the run closes both;
 * - `'null'`: `/dev/null`.
 */
export type DescriptorSource = number | Uint8Array | KeptContent | 'pipe' | 'null' | PipePair

/** Descriptors beyond 0–2, keyed by their number in the child (3 to 255). */
export type ExtraDescriptors = ReadonlyMap<number, DescriptorSource>

/** The standard input of a process. `'pipe'`: the caller writes to {@link RunningProcess.stdin}. */
export type ProcessInput = 'none' | 'pipe' | string | Uint8Array | AsyncIterable<Uint8Array | string>

/** Called with each chunk of output, in order. The chunk is valid until the listener returns. A promise pauses reading. */
export type OutputListener = (chunk: Uint8Array) => void | Promise<void>

export interface StartProcessOptions {
  /** `argv[0]` is an absolute path: no `PATH` is searched. */
  readonly argv: readonly string[]
  /** The whole environment of the child. Default: empty. Never give a launcher a command's variables: `LD_PRELOAD` would run code in it. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Host directory in which the process starts. Default `/`. */
  readonly cwd?: string | undefined
  /** Default `'none'`, which is `/dev/null`. */
  readonly stdin?: ProcessInput | undefined
  /** As root only: the uid and gid of the process. Supplementary groups are dropped. */
  readonly uid?: number | undefined
  readonly gid?: number | undefined
  readonly extraFds?: ExtraDescriptors | undefined
  /** Pipes instead of Node's sockets for standard streams; the run closes them. */
  readonly stdinPipe?: PipePair | undefined
  readonly stdoutPipe?: PipePair | undefined
  /** Where the loader or supervisor reports, from `confineArgv`. One of `extraFds`. */
  readonly status?: LoaderStatus | undefined
  /** Milliseconds after which the whole tree is ended. Default: none. */
  readonly timeout?: number | undefined
  /** Ends the whole tree; `wait()` then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
  /** `'capture'` (default) keeps head and tail in memory; `'stream'` leaves reading to the caller, with backpressure: listen at once. */
  readonly output?: 'capture' | 'stream' | undefined
  /** Bytes kept of stdout and of stderr, each. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined
  /** Milliseconds between TERM and KILL. Default 500. */
  readonly killGrace?: number | undefined
  /** Milliseconds for open streams after the main process. Default 250. 0: the whole tree ends with the main process. */
  readonly drainGrace?: number | undefined
  readonly onStdout?: OutputListener | undefined
  readonly onStderr?: OutputListener | undefined
  /** Called right after the start. If it throws, the process is killed. */
  readonly onStarted?: ((pid: number) => void) | undefined
  /** Named in errors. Default `exec`. */
  readonly operation?: string | undefined
}

/** Where a loader or supervisor reports. Made by `confineArgv` only. */
export interface LoaderStatus {
  /** A private file for the loader's records. The run closes it. */
  readonly fd: number
  /** True if a supervisor ends the tree, so that TERM and KILL go through it. */
  readonly supervised: boolean
}

export interface CapturedOutput {
  /** UTF-8, invalid bytes as U+FFFD; if truncated, with a line for the omitted bytes. */
  readonly text: string
  /** First bytes; all of them when nothing was omitted. */
  readonly head: Uint8Array
  /** Last bytes; empty when nothing was omitted. */
  readonly tail: Uint8Array
  readonly totalBytes: number
  /** Bytes between head and tail that were not kept. */
  readonly omittedBytes: number
  readonly truncated: boolean
}

export interface ProcessResult {
  /** Exit status 0–255, or `null` if a signal ended it. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut: boolean
  /** Empty in `'stream'` mode. */
  readonly stdout: CapturedOutput
  readonly stderr: CapturedOutput
  /** Milliseconds to the end of the main process. */
  readonly duration: number
  /** Some processes could not be ended: stuck in the kernel, or of another uid. */
  readonly survivors: boolean
}

export interface RunningProcess extends AsyncDisposable {
  /** The started process, or the supervisor; `undefined` if it did not start. */
  readonly pid: number | undefined
  /** In `'stream'` mode, else `undefined`. Reading slowly makes the process wait. */
  readonly stdout: import('node:stream').Readable | undefined
  readonly stderr: import('node:stream').Readable | undefined
  /** With `stdin: 'pipe'`, else `undefined`. Writing after the process has closed it is not an error. */
  readonly stdin: import('node:stream').Writable | undefined
  /** Aborted when the main process has ended; its tree and streams may live. */
  readonly ended: AbortSignal
  /** Aborted when a killed tree is given up: stuck in the kernel 150 ms after the last signal, or busy for 5 s. */
  readonly outOfReach: AbortSignal
  /** Whether processes of an {@link RunningProcess.outOfReach} tree live. */
  readonly survivors: boolean
  readonly pipes: ReadonlyMap<number, import('node:stream').Duplex>
  /** Signals the process group, through a supervisor if there is one; `SIGKILL` ends the tree. False: the process has ended. */
  kill(signal?: NodeJS.Signals): boolean
  /** SIGTERM to everyone, and SIGKILL after the grace: as on a timeout. */
  askToEnd(): void
  /** Call it when the tree was killed other than by `kill`: the wait is bounded then. */
  expectEnd(): void
  /**
   * Settles when main process and tree are gone and streams are read, or the tree is {@link RunningProcess.outOfReach}.
   * Rejects with `signal.reason` after an abort, and with `ENOEXEC` if the command did not start, never for an exit code.
   */
  wait(): Promise<ProcessResult>
}
