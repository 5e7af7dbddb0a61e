import type { WorkspaceError } from '../errors.ts'
import type { EntryNote, Owner } from './file-types.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { FileDoor } from './file-door.ts'
import type { BindPlan, MissingName, RestrictionProblem } from './bind-plan.ts'
import type { Guarantees } from './guarantees.ts'
import type { CommandLimits, LimitReport } from './limits.ts'

/** The answer of a probe can depend on the root and on the user of commands. */
export interface ProbeTarget {
  /** The workspace's root: a root `/` also contains the system names that real processes need. Default `/`. */
  readonly root?: VirtualPath | undefined
  /** The user of commands. Default: this process's uid, and as uid 0 the unprivileged uid of tests. */
  readonly owner?: Owner | undefined
  /** Probe details for an operator as well, which takes longer. Default false. */
  readonly withDetails?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ProbeDetails {
  readonly [name: string]: string | undefined
  /** Calls of commands that a tracer stops. `all`: file-heavy commands take 10 to 100 times as long. `some`: mostly calls with a path. */
  readonly stoppedCalls?: 'all' | 'some'
}

export interface ProbeReport {
  readonly available: boolean
  /** The guarantees that would hold here; all `none` when not available. */
  readonly guarantees: Guarantees
  /** The missing parts, in words: `bwrap is not installed`. */
  readonly missing: readonly string[]
  /** The remedy for each of `missing`, as a command where there is one: `apt-get install bubblewrap`. */
  readonly howToFix: readonly string[]
  /** Facts worth showing: versions, the Landlock ABI. Host paths of system programs only. */
  readonly details: ProbeDetails
  /** How each limit would be enforced. A limit without a report is not enforced. */
  readonly limits?: readonly LimitReport[] | undefined
}

export interface WorkspaceView {
  readonly root: VirtualPath
  /** The user of commands: the owner of the root's directory. Absent for interpreters, and for stores without owners. */
  readonly owner?: Owner | undefined
  /** The file API of the workspace: interpreters work through it, so the policy is asked for every access. */
  readonly files: FileDoor
  /** Returns the names that exist at `/`, even if denied. They replace an interpreter's `bin` or `dev`. Causes no access event. */
  readonly topEntries?: ((names: readonly string[]) => Promise<readonly string[]>) | undefined
}

export type StandardInput = string | Uint8Array | AsyncIterable<Uint8Array>

export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr'
  /** Bytes. They can end inside a character: decode each stream with a `TextDecoder` of its own, and `stream: true`. */
  readonly data: Uint8Array
}

export interface CommandRequest {
  /** Normalised: one argument of a shell. */
  readonly command: string
  readonly cwd: VirtualPath
  readonly env: Readonly<Record<string, string>>
  /** Where programs are to keep their caches, by variables such as `XDG_CACHE_HOME`. The directory may be missing. Absent: HOME. */
  readonly cache?: VirtualPath | undefined
  /** Default: end of file. Read a chunk only when there is room. Call `return` after the last read, since a writer may be waiting. */
  readonly stdin?: StandardInput | undefined
  /** The executor calls this with each chunk of both streams, in the order of reading. The listener never throws, and copies the bytes. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined
  /** The executor calls this for each finished connection through a host list, and for each refusal. The listener never throws. */
  readonly onConnection?: ((report: ConnectionReport) => void) | undefined
  /** Absolute path or name of a POSIX shell; absent: the user's login shell as the executor resolves it. */
  readonly shell?: string | undefined
  /** `-lc` or `-c`. */
  readonly login: boolean
  /**
   * Nothing in the workspace decides how the command starts: no start-up file, and PATH without directories of the workspace.
   * For a command that runs without a rule.
   */
  readonly bare?: boolean | undefined
  /** Milliseconds after which the whole process tree is ended; absent: no limit. */
  readonly timeout?: number | undefined
  /** Milliseconds between the polite and the final signal. */
  readonly killGrace: number
  /** Bytes kept of each output stream: a head and a tail. */
  readonly maxOutputBytes: number
  /** Limits that narrow those of the executor. Contains only limits that the executor enforces. */
  readonly limits?: CommandLimits | undefined
  /** Ends the whole process tree; the run then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
}

/** A connection or refused attempt of a command or tool, or the lookup of a name that is not listed. */
export interface ConnectionReport {
  readonly host: string
  /** Absent for a name that was only looked up. */
  readonly port?: number | undefined
  readonly entry?: string | undefined
  readonly outcome: 'allowed' | 'denied' | 'failed'
  /** The workspace's rule that refused the connection, if any. */
  readonly rule?: string | undefined
  /** A part of a sentence, printed directly after the host. Absent for an allowed connection. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** Milliseconds since the epoch, at the start. */
  readonly time: number
  /** Milliseconds. */
  readonly duration: number
  /** Bytes to the host and from it. */
  readonly sentBytes: number
  readonly receivedBytes: number
}

export type ConnectionVerdict =
  | {
      readonly effect: 'allow'
      /** The entry of the host list that allows the connection; absent without a list. */
      readonly entry?: string | undefined
      /** Requests to the host need a rule of the executor, so only commands can reach it. */
      readonly judgesRequests?: boolean | undefined
    }
  | {
      readonly effect: 'deny'
      /** Default `network`: the list of the executor. */
      readonly rule?: string | undefined
      readonly reason: string
      readonly remedy: string
    }

/** A host that a list of hosts refused to a command. */
export interface NetworkViolation {
  /** The name of the rule; `network` for the executor's own list. */
  readonly rule: string
  readonly kind: 'refused'
  readonly path?: undefined
  readonly host: string
  /** Absent where only the name was looked up. */
  readonly port?: number | undefined
  /** A part of a sentence, printed directly after the host. */
  readonly reason: string
  readonly remedy: string
}

/** A break of a rule that could not be prevented, or a refused host. */
export type RuleViolation = FileViolation | NetworkViolation

export interface FileViolation {
  readonly rule: string
  readonly path: VirtualPath
  /**
   * `created`: the command made a name that a pattern rule denies or protects. `exposed`: a program of the host replaced a protected file,
   * which the command could use for a while. `link`: a link leads elsewhere, or its target is not covered; see `reason`.
   */
  readonly kind: 'created' | 'exposed' | 'link'
  /** For a `link`: a part of a sentence, printed directly after the path. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** `exposed`: for how long, in milliseconds. Absent if the command ended first. */
  readonly duration?: number | undefined
}

export interface CommandOutput {
  /** UTF-8, invalid bytes as U+FFFD. Beyond `maxOutputBytes`, head and tail with a line for the bytes left out. */
  readonly stdout: string
  readonly stderr: string
  /**
   * Both streams in the order in which this process read them. Lines a few milliseconds apart may be swapped.
   * The virtual executor returns standard output first.
   */
  readonly output: string
  /** All bytes of the stream, including bytes that were not kept. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** Output in the middle of `stdout`, `stderr` or `output` was left out. */
  readonly truncated: boolean
}

export interface CommandResult extends CommandOutput {
  /**
   * `null` when a signal ended the command. A signal that the command sent itself can appear as 128 plus the signal number.
   * A timeout and `kill` are always reported by name.
   */
  readonly exitCode: number | null
  /** The signal's name, `SIGKILL`; `null` after an exit. */
  readonly signal: string | null
  /** `$?` of a shell: the exit code, or 128 plus the signal number. */
  readonly exitStatus: number
  readonly timedOut: boolean
  /** True if SIGKILL has not ended some processes: the kernel waits for a file system that does not answer. */
  readonly survivors?: true | undefined
  /** Milliseconds. */
  readonly duration: number
  readonly executor: string
  readonly violations?: readonly RuleViolation[] | undefined
  /** Rules that may have caused a failure. */
  readonly hints?: readonly RuleHint[] | undefined
  /** Entries that exist only for commands or only in the store. */
  readonly notes?: readonly EntryNote<VirtualPath>[] | undefined
}

/** A protected path that the standard error of a command names. The rule `mounts` stands for a git repository outside the mounts. */
export interface RuleHint {
  readonly rule: string
  readonly path: VirtualPath
  readonly access: 'read-only' | 'none'
  /** The reason of the rule: a part of a sentence, printed directly after the path. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

export type KillSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGQUIT' | 'SIGKILL' | 'SIGUSR1' | 'SIGUSR2'

/** The end of a command; the workspace adds the rest. */
export type ExecutorResult = Omit<CommandResult, 'exitStatus' | 'hints' | 'notes'>

export interface StartedCommand extends AsyncDisposable {
  /** Output as it comes, for one reader; `wait` captures it in any case. */
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** The output so far, at any time. Never waits. */
  output(): CommandOutput
  /** Sends a signal to the command; `SIGKILL` ends the whole process tree. False when it has ended already. */
  kill(signal?: KillSignal): boolean
  /** True while {@link CommandResult.survivors} exist. Absent if commands are not processes. */
  readonly survivors?: boolean | undefined
  /**
   * Resolves when all processes have ended, or within a second of SIGKILL with {@link CommandResult.survivors}. No exit code rejects.
   * Rejects with `signal.reason` after an abort, and with `EIO` if another program killed the sandbox.
   */
  wait(): Promise<ExecutorResult>
}

/** Standard input of a command with `writableStdin`. */
export interface CommandInput {
  /**
   * Writes input, and resolves when there is room for more. The promise may be left unawaited.
   * Rejects with `ECLOSED` when the input has ended, or without `writableStdin`. The bytes must not change before the promise settles.
   */
  writeInput(data: string | Uint8Array): Promise<void>
  /** Ends the input after all bytes that were written. A second call does nothing. */
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
  /** Output and standard error in one stream, for one reader. The reader must keep reading. */
  readonly output: AsyncIterable<Uint8Array>
  /** Bytes of start-up files before the command's output; `undefined` before it begins, 0 for an interactive shell. */
  readonly commandOffset: number | undefined
  /** Resolves when the terminal has taken all bytes, is closed, or has 16 MiB unread. */
  write(data: Uint8Array): Promise<'written' | 'full' | 'closed'>
  /** Changes the size, and sends SIGWINCH to the program. Returns false when the terminal is closed. */
  resize(columns: number, rows: number): boolean
  /**
   * Signals the foreground, as the terminal's keys do. `SIGHUP`, the default, reaches everything on the terminal.
   * `SIGKILL` ends the whole process tree. False when no process is left.
   */
  kill(signal?: KillSignal): boolean
  /** Like {@link RunningCommand.survivors}. */
  readonly survivors?: boolean | undefined
  /** Resolves like {@link RunningCommand.wait}, after all output was delivered. */
  wait(): Promise<TerminalResult>
}

/** How the root directory of a command is built when a mount lies at `/`. */
export interface RootForm {
  /** `direct`: the mount's directory, at full speed. `translated`: by a tracer, which is slow. */
  readonly form: 'direct' | 'translated'
  /** Why the form is not `direct`: a part of a sentence, printed directly after the path. */
  readonly reason?: string | undefined
  /** The refusal of commands when `direct` is required and impossible. */
  readonly refused?: WorkspaceError | undefined
}

export interface AttachedExecutor {
  readonly guarantees: Guarantees
  /** For models, one sentence: missing usual programs and forms. Absent: the machine's programs. */
  readonly lacks?: string | undefined
  /** The limits that the executor enforces. A command with another limit is refused. */
  readonly limits?: readonly LimitReport[] | undefined
  /** Further names at `/` where commands see the executor's own entries. Default: none. */
  readonly topNames?: readonly string[] | undefined
  /** Why commands could create a missing protected name; `undefined` if the name can be kept. Absent: no name can. Does not wait. */
  refuseMissing?(name: MissingName): RestrictionProblem | undefined
  /** How a command's root would be made now; `undefined` without a choice. Without this method, there is no choice. Does not wait. */
  rootForm?(plan: BindPlan): RootForm | undefined
  /** How a connection to a host would be judged, without making it. Absent: the machine's network, or none. */
  explainConnection?(host: string, port: number): ConnectionVerdict
  /**
   * Starts a command in the tree of `plan`. `ENOEXEC`: it cannot be started. `EBUSY`: a bound path keeps changing.
   * `EUNENFORCEABLE`: the plan cannot be held now.
   */
  spawn(request: CommandRequest, plan: BindPlan): Promise<StartedCommand>
  /** Starts a command on a terminal, otherwise as `spawn`; `ENOTSUP` without terminals. Absent: sessions are `ENOTSUP`. */
  openTerminal?(request: TerminalRequest, plan: BindPlan): Promise<Terminal>
  /** Ends every process and releases all resources. `ETIMEDOUT`: some processes or starts remain that no signal ends. */
  close(): Promise<void>
}

/** Runs commands. Every `executor-*` package implements this; callers use `workspace.exec`. */
export interface Executor {
  /** For messages and requirements: `bubblewrap`, `proot`. */
  readonly name: string
  /** `process`: real programs, which need mounts with a `hostPath`. `interpreter`: runs over the workspace's file door. */
  readonly kind: 'process' | 'interpreter'
  /**
   * Tries a real sandbox once, caches the result, and reports the guarantees. A missing part does not reject.
   * A shortage rejects with `ENOEXECUTOR`: a weaker executor must not replace an untried one.
   */
  probe(target?: ProbeTarget): Promise<ProbeReport>
  /** Binds the executor to a workspace. Rejects with `ENOEXECUTOR` or `EINVAL`, and the remedy. */
  attach(view: WorkspaceView): Promise<AttachedExecutor>
}
