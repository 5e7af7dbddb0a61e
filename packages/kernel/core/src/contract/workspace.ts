import type { StorageAdapter } from './adapter.ts'
import type { SignalOption } from './file-types.ts'
import type { ErrorCode } from '../errors.ts'
import type {
  CommandResult,
  Executor,
  OutputChunk,
  RootForm,
  RuleViolation,
  RunningCommand,
  StandardInput,
  ConnectionReport,
  ConnectionVerdict,
} from './executor.ts'
import type { GuaranteeLevel, Guarantees, Requirement } from './guarantees.ts'
import type { CommandLimits } from './limits.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { FileOperation } from './operations.ts'
import type { Policy, Rule } from './policy.ts'
import type { CheckpointEngine } from './checkpoint-engine.ts'
import type { CheckpointDoor } from './checkpoints.ts'
import type { FileDoor } from './file-door.ts'
import type { LongRunning } from './sessions.ts'

export interface MountOptions {
  /** Where the adapter's root appears: an absolute path without `..`. */
  readonly at: string
  /**
   * An adapter, which stays its creator's to close, or a factory: its adapter belongs to the workspace and is closed
   * with it.
   */
  readonly adapter: StorageAdapter | (() => StorageAdapter | Promise<StorageAdapter>)
  /** Default `read-write`; `read-only` for an adapter whose capability says so. */
  readonly access?: 'read-write' | 'read-only' | undefined
}

export interface WorkspaceOptions {
  /** The first mount is the workspace's root: relative paths resolve against it, commands start in it. At least one. */
  readonly mounts: readonly MountOptions[]
  /** Default: none, everything the mounts allow is allowed. */
  readonly rules?: readonly Rule[] | undefined
  /** Your own engine instead of `rules`. */
  readonly policy?: Policy | undefined
  /** Tried in order; the first that is available here and meets `require` is taken. Default: none, commands are `ENOEXECUTOR`. */
  readonly executors?: readonly Executor[] | undefined
  readonly require?: Requirement | undefined
  /**
   * Further names of the root, each one top-level segment: `{ '/workspace': '/' }`, which is the default when the root is
   * `/` and has no such entry. Give `{}` for none.
   */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /**
   * `/tmp`, the workspace's own. Default true, where the adapter of the first mount can make one (`createScratch`), and a
   * mount at `/` has no entry `/tmp`.
   */
  readonly scratch?: boolean | undefined
  /**
   * Labels that every audit event carries: `{ thread: 't1', user: 'u7' }`. At most 32; names of 1 to 64 characters
   * `A-Za-z0-9._-`, values of at most 256 characters. Default: none.
   */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Default: none. */
  readonly commands?: CommandDefaults | undefined
  /**
   * Keeps earlier states of the files: `createCheckpoints({ stateDirectory })` of `@ws/snapshots`. A mount that it cannot save is
   * `ENOTSUP` at once. Default: none is kept.
   */
  readonly checkpoints?: CheckpointEngine | undefined
  /**
   * Milliseconds since the epoch: the clock of audit events, of durations of commands, and of `startedAt`. Times of files, checkpoints
   * and connections are those of their makers. Timeouts go by the machine. Default: the machine's clock.
   */
  readonly now?: (() => number) | undefined
  /** Numbers from 0 to below 1, for the names that `mkdtemp` of `createNodeFs` makes. Default: those of `Math`. */
  readonly random?: (() => number) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Defaults for every command and session of a workspace. A call can narrow it: the smaller `timeout` and
 * `maxOutputBytes` win, `login` can only become false. `env` is merged, and the call's variables win.
 */
export interface CommandDefaults {
  /** Milliseconds, 1 to 2,147,483,647. */
  readonly timeout?: number | undefined
  /** Bytes kept of each output stream, and of both in one. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined
  /** Added to the clean environment. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Whether shells read the login files. Default true. */
  readonly login?: boolean | undefined
  /**
   * Where real programs keep their caches: a directory of the workspace, such as a mount of its own, or `scratch` for `/tmp/.cache`,
   * which is gone with the workspace. For a workspace alone. Default: `scratch` where there is one, else `HOME`, which is the root.
   */
  readonly cache?: string | undefined
  /**
   * The author and committer of commits, in place of those that a repository names. It sets `GIT_AUTHOR_NAME` and its like, where `env`
   * does not. For a workspace alone. Default: none, so that the first `git commit` in a new repository fails.
   */
  readonly gitIdentity?: { readonly name: string; readonly email: string } | undefined
}

export interface ExecOptions extends SignalOption {
  /** A directory; relative to the workspace's root. Default: the root. */
  readonly cwd?: string | undefined
  /** Added to the clean environment; nothing of this process's own environment reaches a command. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The whole of standard input: text as UTF-8, bytes or chunks. Default: nothing to read. */
  readonly stdin?: StandardInput | undefined
  /**
   * Leaves standard input open for {@link CommandInput.writeInput}, until {@link CommandInput.endInput} or the end of the
   * command. Not together with `stdin`. For `spawn` and `start`. Default false.
   */
  readonly writableStdin?: boolean | undefined
  /**
   * Called with each chunk of output at once when it was read, of both streams in that order, with bytes of its own. Errors of
   * a listener are ignored, and its promise is not awaited. Default: none.
   */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined
  /** Milliseconds after which the whole process tree is ended, and the result says `timedOut`. Default: none. */
  readonly timeout?: number | undefined
  /** Milliseconds between SIGTERM and SIGKILL. Default 2,000. */
  readonly killGrace?: number | undefined
  /** Bytes kept of each output stream, and of both in one: the head and the tail. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined
  /** Narrow the limits of the executor. A limit that cannot be held here is refused with `EUNENFORCEABLE`. */
  readonly limits?: CommandLimits | undefined
  /** A POSIX shell, by absolute path or name. Default, also for a blank one: the user's login shell. */
  readonly shell?: string | undefined
  /** `-lc` when true (default), `-c` when false. */
  readonly login?: boolean | undefined
  /**
   * A last resort: names of rules that this command runs without, since the executor cannot enforce them. Exactly these
   * are dropped. Programs that earlier commands left would run without the rules too. So the shell reads no start-up
   * file then, and PATH has the system's directories and the operator's tools only: not `node_modules/.bin` or
   * `.venv/bin`. A name that no such rule has is `EINVAL`.
   */
  readonly acknowledge?: readonly string[] | undefined
  /**
   * Resolve only when everything that the command wrote survives a power cut, as after `flush`. Processes that outlive
   * the command are not covered. For `exec`. Default false.
   */
  readonly durable?: boolean | undefined
}

/**
 * Arguments as a tool call brings them: `{ command }`, or one entry for each word, `{ 'command.0': 'ls', 'command.1': '-la' }`.
 * `command` wins. The words count from 0, or from 1 where there is no 0, up to the first gap; other entries are left alone.
 */
export interface CommandArguments {
  readonly command?: string | readonly string[] | undefined
  readonly [name: `command.${number}`]: string | undefined
}

/**
 * A shell command line, or a program with its arguments, which are quoted for the shell, or either of them as a tool call
 * brings it [LS5].
 */
export type Command = string | readonly string[] | CommandArguments

export interface ExplainRequest {
  /** For `edit` ask about `read` and `write`, for `glob` about `list`, for `realPath` about `stat`. */
  readonly operation: FileOperation | 'exec' | 'connect'
  /** For `exec`: the directory it would run in. Required, but for `connect`. */
  readonly path?: string | undefined
  /** For `connect`: the host that commands would reach, by name. */
  readonly host?: string | undefined
  /** For `connect`. Default 443. */
  readonly port?: number | undefined
  /** For `connect`: as in {@link ConnectionsOptions}. */
  readonly hosts?: ConnectionsOptions['hosts']
  /** For `exec`: the command, which rules about commands judge. Default: any that they allow. */
  readonly command?: Command | undefined
  /** For `exec`: as there. */
  readonly acknowledge?: readonly string[] | undefined
}

export interface ConnectionsOptions {
  /** The file that they are for, which their events name. Default: the root. */
  readonly path?: string | undefined
  /**
   * The only hosts that they reach, in place of those that commands reach: a list as in `network.allow`, or `public` for every
   * public host. Rules narrow it. Default: the hosts that commands reach.
   */
  readonly hosts?: readonly string[] | 'public' | undefined
}

/** The connections of a tool that goes out for the workspace. The tool asks before it looks up a name. */
export interface Connections {
  /** Judges a connection as `explain` does. Hosts with rules for requests are for commands alone. */
  judge(host: string, port: number): ConnectionVerdict
  /** Audits a connection when it is over, and each refusal. */
  report(report: ConnectionReport): void
}

export interface Explanation {
  readonly effect: 'allow' | 'deny'
  /** The path after links and `..`; the path as given where a step could not be taken. */
  readonly resolvedPath: VirtualPath
  /** The rule that decided; absent for an allow. */
  readonly rule?: string | undefined
  readonly code?: ErrorCode | undefined
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** For `connect`: the entry of the executor's list that lets it pass; absent where commands share the network of the machine. */
  readonly entry?: string | undefined
  /** The mount it lies in; absent for synthetic directories and aliases. */
  readonly mount?: VirtualPath | undefined
  /**
   * How the rights at this path are held at each door. `files` is always `interpreter`: the workspace asks the policy for
   * every operation. `exec` is the weakest level of all that applies here; absent without an executor.
   */
  readonly enforcedBy: { readonly files: 'interpreter'; readonly exec?: GuaranteeLevel | undefined }
  /** Exceptions that apply here, with their justification. */
  readonly exceptions?: readonly string[] | undefined
  /** Why commands would be refused, or run without a rule, in the present state. */
  readonly unenforceable?:
    | readonly { readonly rule: string; readonly reason: string; readonly remedy: string }[]
    | undefined
  /** For `exec`: how the root of commands is made where a mount lies at `/` and there is a choice. */
  readonly rootForm?: RootForm | undefined
  /** For `exec`: paths that rules by pattern match now, and so cover in a command that would start. */
  readonly matches?: readonly { readonly rule: string; readonly path: VirtualPath }[] | undefined
  /** For `exec`: the executors that come before the chosen one, why this workspace cannot have them, and the remedy. */
  readonly passedOver?:
    | readonly { readonly executor: string; readonly reason: string; readonly remedy?: string | undefined }[]
    | undefined
  /** Directories on the way across whose border rename and link are `EXDEV` in commands. */
  readonly renameBorders?: readonly VirtualPath[] | undefined
}

/** Audit of one operation at one door. */
export interface AccessEvent {
  /** The workspace's labels; `{}` where it has none. */
  readonly labels: Readonly<Record<string, string>>
  /** Tools looked for a way out of a model's mistake. The model did not ask for the operation. */
  readonly rehearsal?: true | undefined
  /** Milliseconds since the epoch, at the start. */
  readonly time: number
  readonly door: 'files' | 'exec'
  /**
   * The method's name; `closeSession` for the end of a session, `connect` for a connection of a command or a tool. `exists` is `stat`, and `readText`, `readStream` and `readLines`
   * are `read`.
   */
  readonly operation: string
  /** The path as the caller gave it; for commands the working directory. */
  readonly path: string
  /** Where links and `..` led, when that is another path; for a denial, the path that was refused. */
  readonly resolvedPath?: VirtualPath | undefined
  /** For move and copy. */
  readonly destination?: string | undefined
  /**
   * `allowed`: it was done; a command ran to its end, with any exit code. `denied`: the policy or a mount refused it.
   * `aborted`: its signal ended it. `failed`: everything else.
   */
  readonly outcome: 'allowed' | 'denied' | 'failed' | 'aborted'
  /** The error's code; `ECANCELED` for `aborted`. */
  readonly code?: string | undefined
  readonly rule?: string | undefined
  /** Milliseconds. */
  readonly duration: number
  /** For commands and sessions. */
  readonly command?: string | undefined
  readonly executor?: string | undefined
  /** The rules that the command was allowed to run without. */
  readonly acknowledged?: readonly string[] | undefined
  /** From here on as in {@link CommandResult}; absent where the command never ran, or its end is not known. */
  readonly exitCode?: number | null | undefined
  readonly signal?: string | null | undefined
  /** For a session also after its `idleTimeout`. */
  readonly timedOut?: boolean | undefined
  readonly survivors?: true | undefined
  /** A session has one stream, which counts here. */
  readonly stdoutBytes?: number | undefined
  readonly stderrBytes?: number | undefined
  readonly violations?: readonly RuleViolation[] | undefined
  /**
   * For `connect`: one event for each connection of a command to a listed host, or of a tool, when it is over, and for each
   * refusal.
   */
  readonly connection?: AccessedHost | undefined
}

/** The host of a connection that a command or a tool made, or was refused. */
interface AccessedHost
  extends Pick<ConnectionReport, 'host' | 'port' | 'entry' | 'reason' | 'sentBytes' | 'receivedBytes'> {
  /**
   * A command causes at most 1,000 events of each outcome, and 10,000 of allowed connections. At its end, one event with the host `*`
   * stands for the rest: the number of them, and their bytes.
   */
  readonly leftOut?: number | undefined
}

export interface WorkspaceEvents {
  access: (event: AccessEvent) => void
}

export interface MountInfo {
  readonly at: VirtualPath
  readonly adapter: string
  readonly access: 'read-write' | 'read-only'
}

/**
 * One tree of files behind two doors: the file API, and commands.
 *
 * Made by `createWorkspace`. Close it, or hold it with `await using`.
 */
export interface Workspace extends FileDoor, CheckpointDoor, LongRunning, AsyncDisposable {
  /** The first mount's place: relative paths, `HOME` and `PWD` of commands. */
  readonly root: VirtualPath
  readonly mounts: readonly MountInfo[]
  /** The option `checkpoints` was given. */
  readonly keepsCheckpoints: boolean
  /** The executor that was chosen; absent without executors. */
  readonly executor:
    | {
        readonly name: string
        readonly guarantees: Guarantees
        /** For models, in one sentence: the usual programs and forms that it does not have. */
        readonly lacks?: string | undefined
      }
    | undefined

  /**
   * Runs a command to its end. Never rejects on a non-zero exit; rejects with `ENOEXECUTOR` (there is no executor),
   * `EUNENFORCEABLE` (a rule cannot be enforced: acknowledge it, or choose another executor), `ENOEXEC` (could not be
   * started), `EINVAL` (a blank command, a NUL), or `signal.reason` after an abort.
   */
  exec(command: Command, options?: ExecOptions): Promise<CommandResult>
  /** Starts a command and gives its streams. Rejects as `exec` does. */
  spawn(command: Command, options?: ExecOptions): Promise<RunningCommand>
  /**
   * Gives the policy's answer about an operation, the reason, and how it is enforced; without doing it. Never rejects
   * for a refusal.
   */
  explain(request: ExplainRequest): Promise<Explanation>
  /** Judges and audits the connections of a tool, by the list and the rules that hold for commands. */
  connections(options?: ConnectionsOptions): Connections
  /** Subscribes to the audit. Returns the function that ends the subscription. A listener that throws is ignored. */
  on<Name extends keyof WorkspaceEvents>(name: Name, listener: WorkspaceEvents[Name]): () => void
  /**
   * The barrier: when it resolves, everything acknowledged before survives a power cut, and so does everything that
   * ended commands wrote. A bucket always does so. On a local disk, the whole file system is synced (`syncfs`), and so
   * are those mounted below the root. Where the system cannot, it is `ENOTSUP`. A disk that lies about its own cache is
   * not found out. `/tmp` and stores in memory are not covered.
   */
  flush(options?: SignalOption): Promise<void>
  /**
   * Ends sessions and commands, uploads what is held back, empties `/tmp`, then closes the adapters it made. Local disks are
   * not synced: call `flush` first for that. Twice is fine. Later calls are `ECLOSED`.
   */
  close(): Promise<void>
}
