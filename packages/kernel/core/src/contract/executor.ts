import type { WorkspaceError } from '../errors.ts'
import type { EntryNote, Owner } from './file-types.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { FileDoor } from './file-door.ts'
import type { BindPlan, MissingName, RestrictionProblem } from './bind-plan.ts'
import type { Guarantees } from './guarantees.ts'
import type { CommandLimits, LimitReport } from './limits.ts'

/** The answer of a probe can depend on the root and on the user of commands. */
export interface ProbeTarget {
  /** The workspace's root: with `/`, real processes need the system's names in it. Default `/`. */
  readonly root?: VirtualPath | undefined
  /** The user of commands. Default: this process's uid, and as uid 0 the unprivileged uid of tests. */
  readonly owner?: Owner | undefined
  /** True for all details, those for an operator too, which take longer to find out. Default false. */
  readonly withDetails?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ProbeDetails {
  readonly [name: string]: string | undefined
  /**
   * Which system calls of commands a tracer stops. `all`: file-heavy commands take 10 to 100 times as long. `some`: mostly calls with a
   * path.
   */
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
  /** Facts worth showing: versions, the Landlock ABI. No host paths but those of system programs. */
  readonly details: ProbeDetails
  /** By what each limit would be held; a field that is absent is not held. */
  readonly limits?: readonly LimitReport[] | undefined
}

export interface WorkspaceView {
  readonly root: VirtualPath
  /** The user of commands: the owner of the root's directory. Absent for interpreters, and for stores without owners. */
  readonly owner?: Owner | undefined
  /** The file API of the workspace: interpreters work through it, so the policy is asked for every access. */
  readonly files: FileDoor
  /** Which of these names the workspace has at `/`, denied or not; they replace an interpreter's `bin` or `dev`. Causes no access event. */
  readonly topEntries?: ((names: readonly string[]) => Promise<readonly string[]>) | undefined
}

export type StandardInput = string | Uint8Array | AsyncIterable<Uint8Array>

export interface OutputChunk {
  readonly stream: 'stdout' | 'stderr'
  /** Bytes. They can end inside a character: decode each stream with a `TextDecoder` of its own, and `stream: true`. */
  readonly data: Uint8Array
}

export interface CommandRequest {
  /** The command line, normalised: for a shell, as one argument of its own. */
  readonly command: string
  /** A directory in the workspace. */
  readonly cwd: VirtualPath
  /** Added to the clean environment. */
  readonly env: Readonly<Record<string, string>>
  /** Where programs are to keep their caches, by variables such as `XDG_CACHE_HOME`. It need not be there. Absent: HOME. */
  readonly cache?: VirtualPath | undefined
  /**
   * Default: end of file at once. Take a chunk when the command has room, and call `return` when it reads no more: a caller may be waiting.
   */
  readonly stdin?: StandardInput | undefined
  /** Call it with each chunk as it is read, of both streams in order. It never throws, and copies its bytes. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined
  /** Call it once for each connection through a list of hosts when it is over, and for each refusal. It never throws. */
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
  /** Narrow those of the executor's own options. Only ones that {@link AttachedExecutor.limits} says are held. */
  readonly limits?: CommandLimits | undefined
  /** Ends the whole process tree; the run then rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
}

/** A connection that a command or a tool made, or wanted to make; or a name that a command looked up and that is not listed. */
export interface ConnectionReport {
  /** The host, as it was asked for. */
  readonly host: string
  /** Absent for a name that was only looked up. */
  readonly port?: number | undefined
  /** The entry of the list that let it pass. */
  readonly entry?: string | undefined
  readonly outcome: 'allowed' | 'denied' | 'failed'
  /** The rule that refused it, where that is a rule of the workspace and not the executor's own list. */
  readonly rule?: string | undefined
  /** To follow the host in a sentence; absent for an allowed connection. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** Milliseconds since the epoch, at the start. */
  readonly time: number
  readonly duration: number
  /** Bytes to the host and from it. */
  readonly sentBytes: number
  readonly receivedBytes: number
}

export type ConnectionVerdict =
  | {
      readonly effect: 'allow'
      /** The entry of the list that lets it pass; absent where there is no list. */
      readonly entry?: string | undefined
      /** Each request to the host needs a rule of the executor's own, so that commands alone can reach it. */
      readonly judgesRequests?: boolean | undefined
    }
  | {
      readonly effect: 'deny'
      /** Default `network`: the list of the executor. */
      readonly rule?: string | undefined
      readonly reason: string
      readonly remedy: string
    }

/** A host that a command was refused, since the executor's list of hosts, or that of a rule, does not have it. */
export interface NetworkViolation {
  /** The name of the rule; `network` for the executor's own list. */
  readonly rule: string
  readonly kind: 'refused'
  readonly path?: undefined
  readonly host: string
  /** Absent where only the name was looked up. */
  readonly port?: number | undefined
  /** To follow the host in a sentence. */
  readonly reason: string
  readonly remedy: string
}

/** Something that happened while a command ran, against a rule that could not stop it; or a host that was refused. */
export type RuleViolation = FileViolation | NetworkViolation

export interface FileViolation {
  readonly rule: string
  readonly path: VirtualPath
  /**
   * `created`: the command made a name that a pattern rule denies or protects. `exposed`: a program of the host replaced a protected file,
   * which the command could use for a while. `link`: the command turned the link, or its target is not covered; see `reason`.
   */
  readonly kind: 'created' | 'exposed' | 'link'
  /** For a `link`, to follow the path in a sentence. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** `exposed`: for how long, in milliseconds and all in all. Absent where the command ended before it was covered. */
  readonly duration?: number | undefined
}

/** The output of a command, finished or running, as far as it was read. */
export interface CommandOutput {
  /** UTF-8, invalid bytes as U+FFFD. Beyond `maxOutputBytes`, head and tail with a line for the bytes left out. */
  readonly stdout: string
  readonly stderr: string
  /**
   * Both streams in the order in which this process read them; lines a few milliseconds apart can change places.
   * The virtual executor gives standard output first.
   */
  readonly output: string
  /** Bytes that came, kept or not. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** Output in the middle of `stdout`, `stderr` or `output` was left out. */
  readonly truncated: boolean
}

export interface CommandResult extends CommandOutput {
  /**
   * `null` when a signal ended it. A signal that the command brought upon itself can show as 128 and its number.
   * A timeout and `kill` are always reported by name.
   */
  readonly exitCode: number | null
  /** The signal's name, `SIGKILL`; `null` after an exit. */
  readonly signal: string | null
  /** `$?` of a shell: the exit code, or 128 and the signal's number. */
  readonly exitStatus: number
  readonly timedOut: boolean
  /** Processes are left that SIGKILL has not ended: the kernel waits for a file system that does not answer. */
  readonly survivors?: true | undefined
  /** Milliseconds. */
  readonly duration: number
  readonly executor: string
  readonly violations?: readonly RuleViolation[] | undefined
  /** Rules that may have caused a failure. */
  readonly hints?: readonly RuleHint[] | undefined
  /** Entries that a command and its store do not share. */
  readonly notes?: readonly EntryNote<VirtualPath>[] | undefined
}

/** A protected path that the standard error of a command names. The rule `mounts` stands for a git repository outside the mounts. */
export interface RuleHint {
  readonly rule: string
  readonly path: VirtualPath
  /** The access that the command had there. */
  readonly access: 'read-only' | 'none'
  /** The rule's own, to follow the path in a sentence. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

export type KillSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGQUIT' | 'SIGKILL' | 'SIGUSR1' | 'SIGUSR2'

/** The end of a command as its executor reports it; the workspace adds the rest. */
export type ExecutorResult = Omit<CommandResult, 'exitStatus' | 'hints' | 'notes'>

export interface StartedCommand extends AsyncDisposable {
  /** Output as it comes, for one reader; `wait` captures it in any case. */
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** The output so far, at any time: while it runs, after an abort, after its end. Never waits. */
  output(): CommandOutput
  /** Sends a signal to the command; `SIGKILL` ends the whole process tree. False when it has ended already. */
  kill(signal?: KillSignal): boolean
  /** True while {@link CommandResult.survivors} are left, after an abort too. Absent where commands are not processes. */
  readonly survivors?: boolean | undefined
  /**
   * Resolves when everything has ended, or within a second of SIGKILL with {@link CommandResult.survivors}. An exit code never rejects.
   * Rejects with `signal.reason` after an abort, and with `EIO` if another program killed the sandbox.
   */
  wait(): Promise<ExecutorResult>
}

/** Writes to the standard input of a command that was started with `writableStdin`. */
export interface CommandInput {
  /**
   * Gives the command more to read, and resolves when there is room for more. The promise may be left unawaited.
   * Rejects with `ECLOSED` when the input was ended, or not opened by `writableStdin`.
   * @param data UTF-8 text, or bytes, which must not change until it resolves
   */
  writeInput(data: string | Uint8Array): Promise<void>
  /** Ends the input: the command reads all that was written, and then the end. Twice is fine. */
  endInput(): void
}

export interface RunningCommand extends StartedCommand, CommandInput {
  wait(): Promise<CommandResult>
}

export interface TerminalRequest extends Omit<CommandRequest, 'command' | 'stdin' | 'onOutput' | 'maxOutputBytes'> {
  /** Absent: an interactive shell, which reads its start-up files as one at login when `login` says so. */
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
  /** Its output, standard error too: a terminal knows no difference. For one reader, which must read. */
  readonly output: AsyncIterable<Uint8Array>
  /** Bytes that start-up files printed before the command began; `undefined` until it did, 0 for an interactive shell. */
  readonly commandOffset: number | undefined
  /** Resolves when the terminal has taken all of it, when it is closed, or at once when it has too much unread: 16 MiB. */
  write(data: Uint8Array): Promise<'written' | 'full' | 'closed'>
  /** The program gets SIGWINCH. False when the terminal is closed. */
  resize(columns: number, rows: number): boolean
  /**
   * Signals the foreground, as the terminal's keys do. `SIGHUP`, the default, reaches everything on the terminal.
   * `SIGKILL` ends the whole process tree. False when no process is left.
   */
  kill(signal?: KillSignal): boolean
  /** As {@link RunningCommand.survivors}. */
  readonly survivors?: boolean | undefined
  /** Resolves when the command and everything it started have ended, as {@link RunningCommand.wait} does, and all output has been handed on. */
  wait(): Promise<TerminalResult>
}

/** How the root of a command is made where a mount lies at `/`. */
export interface RootForm {
  /** `direct`: the directory of that mount itself, at full speed. `translated`: a tracer shows it as the root, which is slow. */
  readonly form: 'direct' | 'translated'
  /** Why it is not `direct`, to follow the path in a sentence. */
  readonly reason?: string | undefined
  /** `direct` is asked for and cannot be: commands are refused with this. */
  readonly refused?: WorkspaceError | undefined
}

export interface AttachedExecutor {
  readonly guarantees: Guarantees
  /** For models, in one sentence: the usual programs and forms that it does not have. Absent: those of the machine. */
  readonly lacks?: string | undefined
  /** The limits that it holds; a field that is absent is not held, and a command that asks for it is refused. */
  readonly limits?: readonly LimitReport[] | undefined
  /** Names at `/`, besides those of the system, at which commands see something of the executor's own. Default: none. */
  readonly topNames?: readonly string[] | undefined
  /** Why a missing protected name cannot be kept from commands; `undefined` if it can. Absent: never. Does not wait. */
  refuseMissing?(name: MissingName): RestrictionProblem | undefined
  /** How a command's root would be made now; `undefined` without a choice. Absent: never a choice. Does not wait. */
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
  /** Ends every process and releases everything. Rejects with `ETIMEDOUT` when processes or starts are left that no signal ends. */
  close(): Promise<void>
}

/** Runs commands. Every `executor-*` package implements this; callers use `workspace.exec`. */
export interface Executor {
  /** For messages and requirements: `bubblewrap`, `proot`. */
  readonly name: string
  readonly kind: 'process' | 'interpreter'
  /**
   * Runs the real thing once, cached, and says what would be held. A missing part does not reject.
   * A shortage rejects with `ENOEXECUTOR`: a weaker executor must not replace an untried one.
   */
  probe(target?: ProbeTarget): Promise<ProbeReport>
  /** Binds the executor to a workspace; rejects with `ENOEXECUTOR` or `EINVAL` and the remedy when that cannot work. */
  attach(view: WorkspaceView): Promise<AttachedExecutor>
}
