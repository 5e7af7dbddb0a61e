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
  /** An adapter, which its creator closes, or a factory, whose adapter the workspace closes. */
  readonly adapter: StorageAdapter | (() => StorageAdapter | Promise<StorageAdapter>)
  /** Default `read-write`; `read-only` for an adapter whose capability says so. */
  readonly access?: 'read-write' | 'read-only' | undefined
}

export interface WorkspaceOptions {
  /** The first mount is the workspace's root: relative paths resolve against it, commands start in it. At least one. */
  readonly mounts: readonly MountOptions[]
  /** Default: no rules. Every operation that the mounts allow is then allowed. */
  readonly rules?: readonly Rule[] | undefined
  /** Your own engine instead of `rules`. */
  readonly policy?: Policy | undefined
  /** Tried in order: the first executor that is available here and meets `require` is used. Default: none, commands are `ENOEXECUTOR`. */
  readonly executors?: readonly Executor[] | undefined
  readonly require?: Requirement | undefined
  /** Further names of the root, each one top-level segment. Default `{ '/workspace': '/' }` for the root `/` without such an entry. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /** The workspace's own `/tmp`. Default true if the first adapter has `createScratch`, and a mount at `/` has no `/tmp`. */
  readonly scratch?: boolean | undefined
  /** Labels of every audit event, at most 32. Names: 1 to 64 of `A-Za-z0-9._-`; values: at most 256 characters. Default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly commands?: CommandDefaults | undefined
  /** Keeps earlier states: `createCheckpoints({ stateDirectory })` of `@ws/snapshots`. An unsupported mount is `ENOTSUP`. Default: none. */
  readonly checkpoints?: CheckpointEngine | undefined
  /**
   * The clock of audit events, durations and `startedAt`, in milliseconds since the epoch. Default: the machine's.
   * Times of files, checkpoints and connections come from their makers.
   */
  readonly now?: (() => number) | undefined
  /** Numbers from 0 to below 1, for names of `mkdtemp` of `createNodeFs`. Default: the randomness of the machine. */
  readonly random?: (() => number) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Defaults of commands and sessions. Calls narrow them: smaller `timeout` and `maxOutputBytes`, `login` false. Their variables win over
 * `env`.
 */
export interface CommandDefaults {
  /** Milliseconds, 1 to 2,147,483,647. */
  readonly timeout?: number | undefined
  /** Bytes kept of each output stream, and of both in one. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Whether shells read the login files. Default true. */
  readonly login?: boolean | undefined
  /**
   * Where programs keep caches: a directory, or `scratch` for `/tmp/.cache`. Workspace only. Default: `scratch` if possible, else `HOME`.
   */
  readonly cache?: string | undefined
  /** Author and committer of commits; `env` wins. Workspace only. Default: none, so a first `git commit` in a new repository fails. */
  readonly gitIdentity?: { readonly name: string; readonly email: string } | undefined
}

export interface ExecOptions extends SignalOption {
  /** A directory; relative to the workspace's root. Default: the root. */
  readonly cwd?: string | undefined
  /** Variables in addition to the clean environment. No variable of this process reaches a command. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The whole of standard input: text as UTF-8, bytes or chunks. Default: nothing to read. */
  readonly stdin?: StandardInput | undefined
  /** Leaves standard input open for {@link CommandInput}. For `spawn` and `start`, without `stdin`. Default false. */
  readonly writableStdin?: boolean | undefined
  /** Called with each chunk of both streams in reading order. The listener's exceptions and rejections are ignored. Default: none. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined
  /** Milliseconds after which the whole process tree is ended, and the result has `timedOut: true`. Default: none. */
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
   * Rules to run without, as a last resort. Unknown: `EINVAL`.
   * The shell then reads no start-up file, and PATH has no directory of the workspace, such as `node_modules/.bin`.
   */
  readonly acknowledge?: readonly string[] | undefined
  /** Resolve when all writes of the command survive a power cut; surviving processes are not covered. For `exec`. Default false. */
  readonly durable?: boolean | undefined
}

/**
 * Arguments of a tool call: `{ command }`, else one entry for each word, `{ 'command.0': 'ls', 'command.1': '-la' }`.
 * Words count from 0, or from 1 without a 0, up to the first gap.
 */
export interface CommandArguments {
  readonly command?: string | readonly string[] | undefined
  readonly [name: `command.${number}`]: string | undefined
}

/** A shell command line, a program with its arguments, or either as a tool call brings it [LS5]. */
export type Command = string | readonly string[] | CommandArguments

export interface ExplainRequest {
  /** For `edit`, query `read` and `write`; for `glob`, `list`; for `realPath`, `stat`. */
  readonly operation: FileOperation | 'exec' | 'connect'
  /** The path to judge; for `exec`, the working directory. Required, except for `connect`. */
  readonly path?: string | undefined
  /** For `connect`: the host that commands would reach, by name. */
  readonly host?: string | undefined
  /** For `connect`. Default 443. */
  readonly port?: number | undefined
  /** For `connect`: as in {@link ConnectionsOptions}. */
  readonly hosts?: ConnectionsOptions['hosts']
  /** For `exec`: the command that command rules judge. Default: a command that these rules allow. */
  readonly command?: Command | undefined
  readonly acknowledge?: readonly string[] | undefined
}

export interface ConnectionsOptions {
  /** The file that needs the connections. Audit events name this path. Default: the root. */
  readonly path?: string | undefined
  /** The only hosts, in place of those of commands: as in `network.allow`, or `public` for every public host. Rules narrow it. */
  readonly hosts?: readonly string[] | 'public' | undefined
}

/** The connections of a tool that uses the network for the workspace. The tool calls `judge` before it resolves a name. */
export interface Connections {
  /** Judges a connection as `explain` does. Hosts with rules for requests are for commands alone. */
  judge(host: string, port: number): ConnectionVerdict
  /** Audits a finished connection, or a refusal. */
  report(report: ConnectionReport): void
}

export interface Explanation {
  readonly effect: 'allow' | 'deny'
  /** The path after links and `..`. If a step failed: the path as given. */
  readonly resolvedPath: VirtualPath
  /** The rule that refused; absent if the operation is allowed. */
  readonly rule?: string | undefined
  readonly code?: ErrorCode | undefined
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** For `connect`: the entry of the executor's list that allows the connection; absent where commands share the network of the machine. */
  readonly entry?: string | undefined
  /** Absent for synthetic directories and aliases. */
  readonly mount?: VirtualPath | undefined
  /** How rights are enforced at this path. `files` is always `interpreter`; `exec` is the weakest level, absent without an executor. */
  readonly enforcedBy: { readonly files: 'interpreter'; readonly exec?: GuaranteeLevel | undefined }
  readonly exceptions?: readonly string[] | undefined
  /** Why commands would be refused, or run without a rule, in the present state. */
  readonly unenforceable?:
    | readonly { readonly rule: string; readonly reason: string; readonly remedy: string }[]
    | undefined
  /** For `exec`: how the root is made, if there is a choice. */
  readonly rootForm?: RootForm | undefined
  /** For `exec`: present matches of pattern rules. */
  readonly matches?: readonly { readonly rule: string; readonly path: VirtualPath }[] | undefined
  /** For `exec`: earlier executors of the list, why they cannot be used, and the remedy. */
  readonly passedOver?:
    | readonly { readonly executor: string; readonly reason: string; readonly remedy?: string | undefined }[]
    | undefined
  /** Directories on the path that are a border for commands: rename and link across this border fail (`EXDEV`). */
  readonly renameBorders?: readonly VirtualPath[] | undefined
}

/** Audit of one operation at one door. */
export interface AccessEvent {
  /** The workspace's labels; `{}` where it has none. */
  readonly labels: Readonly<Record<string, string>>
  /** True if a tool tried this operation while searching for a correction of a model's mistake. */
  readonly rehearsal?: true | undefined
  /** Milliseconds since the epoch, at the start. */
  readonly time: number
  readonly door: 'files' | 'exec'
  /** The method's name; also `closeSession`, and `connect` for a connection. `exists` is `stat`; each way of reading is `read`. */
  readonly operation: string
  /** The path as the caller gave it; for commands the working directory. */
  readonly path: string
  /** Where links and `..` led, if elsewhere; for a denial, the refused path. */
  readonly resolvedPath?: VirtualPath | undefined
  readonly destination?: string | undefined
  /** `allowed`: done; a command may have any exit code. `denied`: the policy or a mount refused. `aborted`: the signal was aborted. */
  readonly outcome: 'allowed' | 'denied' | 'failed' | 'aborted'
  /** The error's code; `ECANCELED` for `aborted`. */
  readonly code?: string | undefined
  readonly rule?: string | undefined
  /** Milliseconds. */
  readonly duration: number
  readonly command?: string | undefined
  readonly executor?: string | undefined
  readonly acknowledged?: readonly string[] | undefined
  /** This field and those below are as in {@link CommandResult}; absent without a known end. */
  readonly exitCode?: number | null | undefined
  readonly signal?: string | null | undefined
  /** Also set for a session after its `idleTimeout`. */
  readonly timedOut?: boolean | undefined
  readonly survivors?: true | undefined
  /** For a session: the bytes of its single stream. */
  readonly stdoutBytes?: number | undefined
  readonly stderrBytes?: number | undefined
  readonly violations?: readonly RuleViolation[] | undefined
  /** For `connect`: one event per connection when it is over, and per refusal. */
  readonly connection?: AccessedHost | undefined
}

interface AccessedHost
  extends Pick<ConnectionReport, 'host' | 'port' | 'entry' | 'reason' | 'sentBytes' | 'receivedBytes'> {
  /** The number of connections that a last event with the host `*` stands for: above 10,000 allowed, or 1,000 of another outcome. */
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

/** One tree of files behind two doors: the file API, and commands. Close it, or hold it with `await using`. */
export interface Workspace extends FileDoor, CheckpointDoor, LongRunning, AsyncDisposable {
  /** The first mount's place: relative paths, `HOME` and `PWD` of commands. */
  readonly root: VirtualPath
  readonly mounts: readonly MountInfo[]
  /** The option `checkpoints` was given. */
  readonly keepsCheckpoints: boolean
  /** Absent without executors. */
  readonly executor:
    | {
        readonly name: string
        readonly guarantees: Guarantees
        /** For models, in one sentence: the usual programs and forms that the executor lacks. */
        readonly lacks?: string | undefined
      }
    | undefined

  /**
   * Runs a command to its end. No exit code rejects. `ENOEXECUTOR`: no executor. `ENOEXEC`: not started. `EINVAL`: blank, or a NUL.
   * `EUNENFORCEABLE`: a rule cannot be enforced. `signal.reason` after an abort.
   */
  exec(command: Command, options?: ExecOptions): Promise<CommandResult>
  /** Starts a command and gives its streams. Rejects as `exec` does. */
  spawn(command: Command, options?: ExecOptions): Promise<RunningCommand>
  /** Gives the policy's answer about an operation, and how it is enforced. A refusal does not reject. */
  explain(request: ExplainRequest): Promise<Explanation>
  /** Judges and audits the connections of a tool, by the list and the rules that hold for commands. */
  connections(options?: ConnectionsOptions): Connections
  /** Subscribes to the audit. Returns the function that ends the subscription. Exceptions of the listener are ignored. */
  on<Name extends keyof WorkspaceEvents>(name: Name, listener: WorkspaceEvents[Name]): () => void
  /**
   * Makes acknowledged changes, and the output of ended commands, survive a power cut. A local disk syncs its whole file system.
   * `ENOTSUP` where the system cannot. Covers neither `/tmp`, nor memory, nor a disk that lies about its cache.
   */
  flush(options?: SignalOption): Promise<void>
  /**
   * Ends sessions and commands, uploads held-back changes, empties `/tmp`, closes its adapters; later calls are `ECLOSED`. Does not sync.
   */
  close(): Promise<void>
}
