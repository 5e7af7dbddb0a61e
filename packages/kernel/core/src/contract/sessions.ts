import type { SignalOption } from './file-types.ts'
import type { CommandInput, CommandResult, KillSignal, RuleViolation } from './executor.ts'
import type { CommandLimits } from './limits.ts'
import type { Command, ExecOptions } from './workspace.ts'

export interface OutputText {
  /** UTF-8, invalid bytes as U+FFFD. Starts and ends at character borders, unless the output itself ends inside a character. */
  readonly text: string
  /** Byte offset after `text`, to be passed as the next `since`. */
  readonly next: number
  /** The number of bytes after `since` that were dropped. */
  readonly dropped: number
}

export interface OpenSessionOptions extends SignalOption {
  /** A name of your choice, at most 64 of `A-Za-z0-9._-`. Default: `s1`, `s2` … */
  readonly id?: string | undefined
  /** Run through the shell as `exec` does [LS4]. Default: an interactive shell. */
  readonly command?: Command | undefined
  /** A directory; relative to the workspace's root. Default: the root. */
  readonly cwd?: string | undefined
  /** Variables to add to the clean environment. `TERM` is `xterm-256color` unless `env` sets `TERM`. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly shell?: string | undefined
  /** Whether the shell reads the login files. Default true. */
  readonly login?: boolean | undefined
  /** Characters. Default 80 and 24. */
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  /** Milliseconds without input and output after which the whole process tree is killed. Default: no limit. */
  readonly idleTimeout?: number | undefined
  /** Milliseconds after which the whole process tree is killed, even while it works. Default: no limit. */
  readonly timeout?: number | undefined
  /** Milliseconds between SIGHUP and SIGKILL. Default 2,000. */
  readonly killGrace?: number | undefined
  /** Bytes of output to keep, counted from the end. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined
  readonly limits?: CommandLimits | undefined
  /** Names of rules that do not apply to this session; a last resort. The conditions of `exec` apply here too. */
  readonly acknowledge?: readonly string[] | undefined
}

export interface SessionExit {
  /** The exit code; `null` when a signal ended the session. */
  readonly exitCode: number | null
  /** The signal's name; `null` after an exit. */
  readonly signal: string | null
  readonly endedBy: 'program' | 'timeout' | 'idleTimeout' | 'close'
  readonly survivors?: true | undefined
  /** Created names that match pattern rules, and refused hosts. Absent if there are none. */
  readonly violations?: readonly RuleViolation[] | undefined
}

/** A program on a terminal, under the policy at the time of opening. The last `maxOutputBytes` of output remain readable after the end. */
export interface Session extends AsyncDisposable {
  readonly id: string
  readonly command: string | undefined
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly closed: boolean
  readonly outputBytes: number
  /** Types into the terminal; `\r` is the return key, `\x03` is Ctrl-C. `ECLOSED`: the session has ended. `EBUSY`: 16 MiB are unread. */
  write(data: string | Uint8Array): Promise<void>
  /** Sets the size, in characters. Throws `EINVAL`, `ECLOSED`. */
  resize(columns: number, rows: number): void
  /** Byte offset of the command's output, after start-up files [LS13]. `undefined` until the command begins; 0 for an interactive shell. */
  readonly commandOffset: number | undefined
  /** Returns output from a byte offset on, without waiting. Default: from {@link commandOffset}. */
  read(options?: { readonly since?: number | undefined }): OutputText
  /** Resolves when this many milliseconds pass without output, or when the session ends. */
  waitForIdle(milliseconds: number, options?: SignalOption): Promise<void>
  /** Calls `listener` with each new chunk; with `since`, first with the kept output. Returns a function that unsubscribes. */
  onData(listener: (chunk: Uint8Array) => void, options?: { readonly since?: number | undefined }): () => void
  /** Signals the foreground processes. SIGHUP reaches the whole terminal, SIGKILL the whole process tree. False if no process remains. */
  signal(signal: KillSignal): boolean
  kill(signal?: KillSignal): boolean
  /** Sends SIGHUP, kills the process tree after `killGrace`, and resolves when all processes have ended. Further calls have no effect. */
  close(): Promise<void>
  /** Resolves when the session and all its processes have ended. Rejects with `ENOEXEC` if the session could not start. */
  wait(): Promise<SessionExit>
}

export interface BackgroundOptions extends ExecOptions {
  /** A name of your choice, at most 64 of `A-Za-z0-9._-`. Default: `c1`, `c2` … */
  readonly id?: string | undefined
}

export interface OutputOffsets {
  readonly stdout?: number | undefined
  readonly stderr?: number | undefined
  readonly output?: number | undefined
}

/** A command that runs in the background, until the workspace closes at the latest. */
export interface BackgroundCommand extends CommandInput, AsyncDisposable {
  readonly id: string
  readonly command: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Absent while the command runs, and after a failure. */
  readonly result: CommandResult | undefined
  readonly running: boolean
  /** Returns output of each stream and of both, from byte offsets on (default 0). Keeps the last `maxOutputBytes` of each. Never waits. */
  output(options?: { readonly since?: OutputOffsets | undefined }): {
    readonly stdout: OutputText
    readonly stderr: OutputText
    readonly output: OutputText
  }
  wait(): Promise<CommandResult>
  /** Sends a signal, by default SIGTERM. SIGKILL kills the whole process tree. Returns false if the command has ended. */
  kill(signal?: KillSignal): boolean
}

export interface LongRunning {
  /** Opens a session, confined like `exec`. Rejects like `exec`. `EEXIST`: the id is in use [LS13]. `ENOTSUP`: no terminals. */
  openSession(options?: OpenSessionOptions): Promise<Session>
  /** Returns the sessions that have not ended, the oldest first. */
  sessions(): readonly Session[]
  /** Throws `ENOENT` for an unknown session. */
  session(id: string): Session
  /** Starts a command, and resolves when the command runs. Rejects like `exec`; also with `EEXIST` for an id in use. */
  start(command: Command, options?: BackgroundOptions): Promise<BackgroundCommand>
  /** Returns running background commands and the last 64 that ended, the oldest first. */
  commands(): readonly BackgroundCommand[]
  /** Throws `ENOENT` for a command that is unknown or no longer kept. */
  command(id: string): BackgroundCommand
}
