import type { SignalOption } from './file-types.ts'
import type { CommandInput, CommandResult, KillSignal, RuleViolation } from './executor.ts'
import type { CommandLimits } from './limits.ts'
import type { Command, ExecOptions } from './workspace.ts'

export interface OutputText {
  /** UTF-8, invalid bytes as U+FFFD. Never starts or ends inside a character, unless the output itself ended there. */
  readonly text: string
  /** Byte offset after `text`, for the next `since`. */
  readonly next: number
  /** The number of bytes after `since` that were dropped. */
  readonly dropped: number
}

export interface OpenSessionOptions extends SignalOption {
  /** Your own name, at most 64 of `A-Za-z0-9._-`. Default: `s1`, `s2` … */
  readonly id?: string | undefined
  /** Run through the shell as `exec` does [LS4]. Default: an interactive shell. */
  readonly command?: Command | undefined
  /** A directory; relative to the workspace's root. Default: the root. */
  readonly cwd?: string | undefined
  /** Added to the clean environment. `TERM` is `xterm-256color` unless `env` sets `TERM`. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly shell?: string | undefined
  /** Read the login files. Default true. */
  readonly login?: boolean | undefined
  /** Characters. Default 80 and 24. */
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  /** Milliseconds without input and output after which the whole process tree is ended. Default: none. */
  readonly idleTimeout?: number | undefined
  /** Milliseconds after which the whole process tree is ended, even while it works. Default: none. */
  readonly timeout?: number | undefined
  /** Milliseconds between hanging up and SIGKILL. Default 2,000. */
  readonly killGrace?: number | undefined
  /** Bytes of output that are kept: the last ones. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined
  readonly limits?: CommandLimits | undefined
  /** A last resort: names of rules that this session runs without. See `exec`, whose conditions hold here too. */
  readonly acknowledge?: readonly string[] | undefined
}

export interface SessionExit {
  /** The exit code; `null` when a signal ended the session. */
  readonly exitCode: number | null
  /** The signal's name; `null` after an exit. */
  readonly signal: string | null
  readonly endedBy: 'program' | 'timeout' | 'idleTimeout' | 'close'
  readonly survivors?: true | undefined
  /** Names made against pattern rules, and refused hosts; absent without any. */
  readonly violations?: readonly RuleViolation[] | undefined
}

/** A program on a terminal in the workspace, under the policy at its opening. Keeps its last `maxOutputBytes`, also after its end. */
export interface Session extends AsyncDisposable {
  readonly id: string
  readonly command: string | undefined
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly closed: boolean
  readonly outputBytes: number
  /** Types into the terminal; `\r` is the return key, `\x03` is Ctrl-C. `ECLOSED`: the session has ended. `EBUSY`: 16 MiB are unread. */
  write(data: string | Uint8Array): Promise<void>
  /** Characters. Throws `EINVAL`, `ECLOSED`. */
  resize(columns: number, rows: number): void
  /** Byte offset of the command's output after that of start-up files [LS13]; `undefined` before. 0 for an interactive shell. */
  readonly commandOffset: number | undefined
  /** Output from a byte offset on. Default: from {@link commandOffset}. Never waits. */
  read(options?: { readonly since?: number | undefined }): OutputText
  /** Resolves after this time without output, or when the session ends. */
  waitForIdle(milliseconds: number, options?: SignalOption): Promise<void>
  /** Calls `listener` with each new chunk; with `since`, first with the kept output. Returns a function that unsubscribes. */
  onData(listener: (chunk: Uint8Array) => void, options?: { readonly since?: number | undefined }): () => void
  /** Signals the terminal's foreground; SIGHUP all its processes; SIGKILL the whole process tree. False when no process remains. */
  signal(signal: KillSignal): boolean
  kill(signal?: KillSignal): boolean
  /** Hangs up, ends the whole process tree after the grace, and resolves when all processes have ended. A second call does nothing more. */
  close(): Promise<void>
  /** Resolves when the session and all its processes have ended. Rejects with `ENOEXEC` when the session never began. */
  wait(): Promise<SessionExit>
}

export interface BackgroundOptions extends ExecOptions {
  /** Your own name, at most 64 of `A-Za-z0-9._-`. Default: `c1`, `c2` … */
  readonly id?: string | undefined
}

export interface OutputOffsets {
  readonly stdout?: number | undefined
  readonly stderr?: number | undefined
  readonly output?: number | undefined
}

/** A command that runs in the background, at most until the workspace closes. */
export interface BackgroundCommand extends CommandInput, AsyncDisposable {
  readonly id: string
  readonly command: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Absent while the command runs, and after a failure. */
  readonly result: CommandResult | undefined
  readonly running: boolean
  /** Output of each stream from byte offsets on, default 0, and of both. Keeps the last `maxOutputBytes` of each. Never waits. */
  output(options?: { readonly since?: OutputOffsets | undefined }): {
    readonly stdout: OutputText
    readonly stderr: OutputText
    readonly output: OutputText
  }
  wait(): Promise<CommandResult>
  /** Sends a signal. Default SIGTERM; SIGKILL ends the whole process tree. False when the command has ended. */
  kill(signal?: KillSignal): boolean
}

export interface LongRunning {
  /** Opens a session, confined like `exec`. Rejects like `exec`, with `EEXIST` for an id in use [LS13], and `ENOTSUP` without terminals. */
  openSession(options?: OpenSessionOptions): Promise<Session>
  /** Sessions that have not ended, oldest first. */
  sessions(): readonly Session[]
  /** Throws `ENOENT` for an unknown session. */
  session(id: string): Session
  /** Starts a command, and resolves when it runs. Rejects like `exec`, and with `EEXIST` for an id in use. */
  start(command: Command, options?: BackgroundOptions): Promise<BackgroundCommand>
  /** Running background commands, and the last 64 that have ended; oldest first. */
  commands(): readonly BackgroundCommand[]
  /** Throws `ENOENT` for a command that is unknown or forgotten. */
  command(id: string): BackgroundCommand
}
