import type { WorkspaceError } from '../errors.ts'
import type { EntryNote, HostDirectory, Owner } from './file-types.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { Change } from './checkpoints.ts'
import type { FileDoor } from './file-door.ts'
import type { BindPlan, MissingName, RestrictionProblem } from './bind-plan.ts'
import type { Guarantees } from './guarantees.ts'
import type { HostsRule } from './policy.ts'
import type { CommandLimits, LimitReport } from './limits.ts'

/** The result of a probe can depend on the root and on the user of commands. */
export interface ProbeTarget {
  /** The workspace's root. The root `/` also contains the system names that real processes need. Default `/`. */
  readonly root?: VirtualPath | undefined
  /** The user of commands. Default: this process's user, or an unprivileged user instead of uid 0. */
  readonly owner?: Owner | undefined
  /** Also probe details for an operator, which takes longer. Default false. */
  readonly withDetails?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ProbeDetails {
  readonly [name: string]: string | undefined
  /** System calls that a tracer intercepts. `all`: file-heavy commands take 10 to 100 times as long. `some`: mostly calls with a path. */
  readonly stoppedCalls?: 'all' | 'some'
}

export interface ProbeReport {
  readonly available: boolean
  /** The guarantees on this machine; all `none` if the executor is not available. */
  readonly guarantees: Guarantees
  /** Descriptions of the missing parts, such as `bwrap is not installed`. */
  readonly missing: readonly string[]
  /** The remedy for each entry of `missing`, if possible as a command: `apt-get install bubblewrap`. */
  readonly howToFix: readonly string[]
  /** Further facts: versions, the Landlock ABI. May contain host paths of system programs, but no other host paths. */
  readonly details: ProbeDetails
  /** How each limit would be enforced. A limit without a report is not enforced. */
  readonly limits?: readonly LimitReport[] | undefined
}

export interface WorkspaceView {
  readonly root: VirtualPath
  /** The user of commands: the owner of the root's directory. Absent for interpreters, and for stores without owners. */
  readonly owner?: Owner | undefined
  /** The file API of the workspace. Interpreters access files through this API, so the policy checks every access. */
  readonly files: FileDoor
  /** Returns which of `names` exist at `/`, even if denied. Such names replace an interpreter's `bin` or `dev`. Causes no access event. */
  readonly topEntries?: ((names: readonly string[]) => Promise<readonly string[]>) | undefined
}

export type StandardInput = string | Uint8Array | AsyncIterable<Uint8Array>

export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr'
  /** Bytes, which can end inside a character. Decode each stream with its own `TextDecoder` and `stream: true`. */
  readonly data: Uint8Array
}

export interface CommandRequest {
  /** The normalised command line, as one argument of a shell. */
  readonly command: string
  readonly cwd: VirtualPath
  readonly env: Readonly<Record<string, string>>
  /** The directory for programs' caches, set in variables such as `XDG_CACHE_HOME`. May be missing. Absent: HOME. */
  readonly cache?: VirtualPath | undefined
  /** The file API for this command. Default: {@link WorkspaceView.files}, which never has more rights. For interpreters. */
  readonly files?: FileDoor | undefined
  /** Absent: empty input. Read a chunk only if there is room for it. Call `return` after the last read, since a writer may be waiting. */
  readonly stdin?: StandardInput | undefined
  /** The executor calls this with each chunk of both streams, in the order of reading. The listener never throws, and copies the bytes. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined
  /** The executor calls this for each finished connection that a host list allowed, and for each refusal. The listener never throws. */
  readonly onConnection?: ((report: ConnectionReport) => void) | undefined
  /** {@link ShellState.data} of an earlier command, or an empty string. Set: the result has the state in which the shell ended. */
  readonly shellState?: string | undefined
  /** Absolute path or name of a POSIX shell. Absent: the user's login shell, which the executor determines. */
  readonly shell?: string | undefined
  /** True: the shell gets `-lc`; false: `-c`. */
  readonly login: boolean
  /**
   * No file of the workspace may decide how the command starts: no start-up file, and no workspace directory in PATH.
   * Set if the call's `acknowledge` option switched off a rule for this command.
   */
  readonly bare?: boolean | undefined
  /** Milliseconds after which the whole process tree is killed; absent: no limit. */
  readonly timeout?: number | undefined
  /** Milliseconds between the first signal and SIGKILL. */
  readonly killGrace: number
  /** Bytes kept of each output stream: its first and last bytes. */
  readonly maxOutputBytes: number
  /** Limits that narrow those of the executor. Contains only limits that the executor enforces. */
  readonly limits?: CommandLimits | undefined
  /** Kills the whole process tree; the run then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
}

/** The state in which the shell of a command ended, for the shell of a later command. */
export interface ShellState {
  /** The directory, which may be outside the workspace. A later command starts there if its `cwd` says so. */
  readonly directory: string
  /** Variables, functions, aliases and options, for the same executor. Absent: not known, or more than 256 KiB. */
  readonly data?: string | undefined
}

/** A connection or refused attempt of a command or tool, or the lookup of a name outside the host list. */
export interface ConnectionReport {
  readonly host: string
  /** Absent if the name was only looked up. */
  readonly port?: number | undefined
  readonly entry?: string | undefined
  readonly outcome: 'allowed' | 'denied' | 'failed'
  /** The workspace's rule that refused the connection, if any. */
  readonly rule?: string | undefined
  /** A part of a sentence, printed directly after the host. Absent for an allowed connection. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** Time of the start, in milliseconds since the epoch. */
  readonly time: number
  /** Milliseconds. */
  readonly duration: number
  /** Bytes sent to the host. */
  readonly sentBytes: number
  readonly receivedBytes: number
  /** True if several commands of the workspace used this network, so that any of them may have made the attempt. */
  readonly shared?: true | undefined
}

export type ConnectionVerdict =
  | {
      readonly effect: 'allow'
      /** The entry of the host list that allows the connection; absent without a host list. */
      readonly entry?: string | undefined
      /** True if the executor has rules for single requests to this host. Then only commands can reach the host. */
      readonly judgesRequests?: boolean | undefined
    }
  | {
      readonly effect: 'deny'
      /** The refusing rule. Default `network`: the executor's host list. */
      readonly rule?: string | undefined
      readonly reason: string
      readonly remedy: string
    }

/** A host that a host list refused to a command. */
export interface NetworkViolation {
  /** The name of the rule; `network` for the executor's own list. */
  readonly rule: string
  readonly kind: 'refused'
  readonly path?: undefined
  readonly host: string
  /** Absent if the name was only looked up. */
  readonly port?: number | undefined
  /** A part of a sentence, printed directly after the host. */
  readonly reason: string
  readonly remedy: string
  /** True if several commands of the workspace used this network. Any of them may have made the attempt, so each gets the violation. */
  readonly shared?: true | undefined
}

/** A rule violation that the executor could not prevent, or a refused host. */
export type RuleViolation = FileViolation | NetworkViolation

export interface FileViolation {
  readonly rule: string
  readonly path: VirtualPath
  /**
   * `created`: the command created a name that a pattern rule denies or protects. `exposed`: another program replaced a protected file,
   * and the command could use that file for a while. `link`: a link changed its target, or its target is not covered; see `reason`.
   */
  readonly kind: 'created' | 'exposed' | 'link'
  /** For a `link`: a part of a sentence, printed directly after the path. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** For `exposed`: the milliseconds of exposure. Absent if the command ended during the exposure. */
  readonly duration?: number | undefined
}

export interface CommandOutput {
  /** UTF-8, invalid bytes as U+FFFD. Above `maxOutputBytes`: the first and last bytes, with a line between them about the omitted bytes. */
  readonly stdout: string
  readonly stderr: string
  /**
   * Both streams in the order in which this process read them. Lines written within a few milliseconds may be swapped.
   * The virtual executor returns all standard output before standard error.
   */
  readonly output: string
  /** All bytes of the stream, including bytes that were not kept. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** True if bytes in the middle of `stdout`, `stderr` or `output` were omitted. */
  readonly truncated: boolean
}

export interface CommandResult extends CommandOutput {
  /**
   * `null` if a signal ended the command. A signal that the command sent itself can appear as 128 plus the signal number.
   * After a timeout or `kill`, `signal` always contains the name.
   */
  readonly exitCode: number | null
  /** The signal's name, such as `SIGKILL`; `null` after an exit. */
  readonly signal: string | null
  /** `$?` of a shell: the exit code, or 128 plus the signal number. */
  readonly exitStatus: number
  readonly timedOut: boolean
  /** True if some processes remain after SIGKILL: the kernel is waiting for an unresponsive file system. */
  readonly survivors?: true | undefined
  /** Milliseconds. */
  readonly duration: number
  readonly executor: string
  readonly violations?: readonly RuleViolation[] | undefined
  /** Rules that may have caused the failure. */
  readonly hints?: readonly RuleHint[] | undefined
  /** With the option `shellState`. Absent if the shell ended without it: by a timeout, a signal or `exec`. */
  readonly shellState?: ShellState | undefined
  /** Entries that only commands can see, or that only the store contains. */
  readonly notes?: readonly EntryNote<VirtualPath>[] | undefined
  /**
   * The changes from the start to the end of the command, with the option `changes`. Other programs may have made some of them.
   * Absent if processes remain.
   */
  readonly changes?: readonly Change[] | undefined
}

/** A protected path that appears in a command's standard error. The rule `mounts` means a git repository outside the mounts. */
export interface RuleHint {
  readonly rule: string
  readonly path: VirtualPath
  readonly access: 'read-only' | 'none'
  /** The reason of the rule: a part of a sentence, printed directly after the path. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

export type KillSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGQUIT' | 'SIGKILL' | 'SIGUSR1' | 'SIGUSR2'

/** The result of an executor; the workspace adds the other fields of {@link CommandResult}. */
export type ExecutorResult = Omit<CommandResult, 'exitStatus' | 'hints' | 'notes' | 'changes'>

export interface StartedCommand extends AsyncDisposable {
  /** Output while the command runs, for one reader. `wait` captures the output with or without a reader. */
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** Returns the output so far, without waiting. */
  output(): CommandOutput
  /** Sends a signal to the command; `SIGKILL` kills the whole process tree. Returns false if the command has ended. */
  kill(signal?: KillSignal): boolean
  /** True while {@link CommandResult.survivors} exist. Absent for interpreters, whose commands are not processes. */
  readonly survivors?: boolean | undefined
  /**
   * Resolves for any exit code when all processes have ended, or within a second of SIGKILL if {@link CommandResult.survivors} remain.
   * Rejects with `signal.reason` after an abort, and with `EIO` if another program killed the sandbox.
   */
  wait(): Promise<ExecutorResult>
}

/** Standard input of a command that runs with `writableStdin`. */
export interface CommandInput {
  /**
   * Writes input, and resolves when there is room for more. Callers need not await the promise.
   * Rejects with `ECLOSED` after the end of the input, or without `writableStdin`. Do not change `data` before the promise settles.
   */
  writeInput(data: string | Uint8Array): Promise<void>
  /** Ends the input after all written bytes. A second call does nothing. */
  endInput(): void
}

export interface RunningCommand extends StartedCommand, CommandInput {
  wait(): Promise<CommandResult>
}

export interface TerminalRequest extends Omit<CommandRequest, 'command' | 'stdin' | 'onOutput' | 'maxOutputBytes'> {
  /** Absent: an interactive shell; with `login`, a login shell. */
  readonly command?: string | undefined
  /** Characters, 1 to 65,535. */
  readonly columns: number
  readonly rows: number
}

export interface TerminalResult {
  readonly exitCode: number | null
  /** The signal's name; `null` after an exit. */
  readonly signal: string | null
  readonly timedOut: boolean
  readonly survivors?: true | undefined
  readonly violations?: readonly RuleViolation[] | undefined
}

export interface Terminal extends AsyncDisposable {
  /** Standard output and standard error in one stream, for one reader. The reader must read to the end. */
  readonly output: AsyncIterable<Uint8Array>
  /** Bytes that start-up files wrote before the command's output. `undefined` until the command begins; 0 for an interactive shell. */
  readonly commandOffset: number | undefined
  /** Resolves when the terminal has accepted all bytes (`written`), has 16 MiB unread (`full`), or is closed. */
  write(data: Uint8Array): Promise<'written' | 'full' | 'closed'>
  /** Sets the size, and sends SIGWINCH to the program. Returns false if the terminal is closed. */
  resize(columns: number, rows: number): boolean
  /**
   * Sends a signal to the foreground processes, as keys of a terminal do. `SIGHUP`, the default, reaches all processes on the terminal.
   * `SIGKILL` kills the whole process tree. Returns false if no process remains.
   */
  kill(signal?: KillSignal): boolean
  /** Like {@link RunningCommand.survivors}. */
  readonly survivors?: boolean | undefined
  /** Resolves like {@link RunningCommand.wait}, after the delivery of all output. */
  wait(): Promise<TerminalResult>
}

/** How the root directory of a command is built when a mount lies at `/`. */
export interface RootForm {
  /** `direct`: the directory of the mount, at full speed. `translated`: a tracer rewrites paths, which is slow. */
  readonly form: 'direct' | 'translated'
  /** Why the form is not `direct`: a part of a sentence, printed directly after the path. */
  readonly reason?: string | undefined
  /** The error of commands if `direct` is required but impossible. */
  readonly refused?: WorkspaceError | undefined
}

/** The loopback that the commands of a workspace share. */
export interface SharedLoopback {
  /** The ports on which commands listen, ascending. @param rules those that narrow the list of hosts of the commands */
  ports(rules: readonly HostsRule[]): Promise<readonly number[]>
  /**
   * Lets programs of this machine reach a port. `mounts`: the directories of the workspace's mounts, by their paths. `EBUSY`: the host's port or path is taken. `EACCES`: this process may not have it.
   * `ENOENT`: the directory of `socketPath` is missing. `EINVAL`: that directory lies in one of `mounts`.
   */
  publish(
    port: number,
    request: {
      readonly hostPort: number
      readonly socketPath?: string | undefined
      readonly rules: readonly HostsRule[]
      readonly mounts: ReadonlyMap<VirtualPath, HostDirectory>
    },
  ): Promise<PublishedHost>
}

export interface PublishedHost {
  /** A port of this machine's loopback; absent for a Unix socket. */
  readonly port?: number | undefined
  /** Ends the address and its connections. */
  close(): Promise<void>
}

export interface AttachedExecutor {
  readonly guarantees: Guarantees
  /** Absent: each command has its own loopback, or that of this machine. */
  readonly loopback?: SharedLoopback | undefined
  /** One sentence for models: the usual programs and shell forms that are missing. Absent: all programs of the machine are available. */
  readonly lacks?: string | undefined
  /** The limits that the executor enforces. A command with another limit is refused. */
  readonly limits?: readonly LimitReport[] | undefined
  /** Further names at `/` where commands see the executor's entries instead of the workspace's. Default: none. */
  readonly topNames?: readonly string[] | undefined
  /** Returns why commands could create a missing protected name. `undefined`: the name can be reserved. Absent: no name can be reserved. */
  refuseMissing?(name: MissingName): RestrictionProblem | undefined
  /** Returns, without waiting, how the command's root would be built now. `undefined`, or a missing method: there is only one way. */
  rootForm?(plan: BindPlan): RootForm | undefined
  /** Explains whether a connection to a host would be allowed, without connecting. Absent: commands use the machine's network, or none. */
  explainConnection?(host: string, port: number): ConnectionVerdict
  /**
   * Starts a command in the tree of `plan`. Rejects with `ENOEXEC` if the start fails, and with `EBUSY` if a bound path keeps changing.
   * Rejects with `EUNENFORCEABLE` if the plan cannot be enforced now.
   */
  spawn(request: CommandRequest, plan: BindPlan): Promise<StartedCommand>
  /** Starts a command on a terminal, otherwise like `spawn`. Rejects with `ENOTSUP` without terminals. Absent: sessions are `ENOTSUP`. */
  openTerminal?(request: TerminalRequest, plan: BindPlan): Promise<Terminal>
  /** Kills every process and releases all resources. Rejects with `ETIMEDOUT` if a process or a start does not end, even after SIGKILL. */
  close(): Promise<void>
}

/** Runs commands. Every `executor-*` package implements this interface; callers use `workspace.exec`. */
export interface Executor {
  /** The name in messages and requirements: `bubblewrap`, `proot`. */
  readonly name: string
  /** `process`: runs real programs, which need mounts with a `hostPath`. `interpreter`: runs over the workspace's file API. */
  readonly kind: 'process' | 'interpreter'
  /**
   * Tries a real sandbox once, caches the result, and reports the guarantees. Does not reject for a missing part.
   * Rejects with `ENOEXECUTOR` on a temporary shortage: an untried executor must not be replaced by a weaker one.
   */
  probe(target?: ProbeTarget): Promise<ProbeReport>
  /** Binds the executor to a workspace. Rejects with `ENOEXECUTOR` or `EINVAL`; the error contains the remedy. */
  attach(view: WorkspaceView): Promise<AttachedExecutor>
}
