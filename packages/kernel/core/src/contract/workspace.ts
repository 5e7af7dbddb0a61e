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
import type { Asked, Policy, Rule } from './policy.ts'
import type { CheckpointEngine } from './checkpoint-engine.ts'
import type { CheckpointDoor, RestoreResult } from './checkpoints.ts'
import type { FileDoor } from './file-door.ts'
import type { ForkDoor } from './forks.ts'
import type { PortDoor } from './publishing.ts'
import type { LongRunning } from './sessions.ts'
import type { Try, TryOptions } from './tries.ts'

export interface MountOptions {
  /** The path at which the adapter's root appears: absolute, without `..`. */
  readonly at: string
  /** An adapter, which the caller closes, or a factory, whose adapter the workspace closes. */
  readonly adapter: StorageAdapter | (() => StorageAdapter | Promise<StorageAdapter>)
  /** Default: `read-only` for an adapter with the capability `readOnly`, else `read-write`. */
  readonly access?: 'read-write' | 'read-only' | undefined
}

export interface WorkspaceOptions {
  /** At least one mount. The first is the workspace's root: relative paths resolve against it, and commands start in it. */
  readonly mounts: readonly MountOptions[]
  /** Default: no rules; every operation that the mounts allow is then allowed. */
  readonly rules?: readonly Rule[] | undefined
  /** Your own policy engine in place of `rules`. */
  readonly policy?: Policy | undefined
  /** Candidates in order: the first that is available and meets `require` is used. Default: none, so commands are `ENOEXECUTOR`. */
  readonly executors?: readonly Executor[] | undefined
  readonly require?: Requirement | undefined
  /** Further names of the root, each one top-level segment. Default for a root `/` without entry `workspace`: `{ '/workspace': '/' }`. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /** Adds a private `/tmp`. Default true if the first adapter has `createScratch`, and a mount at `/` has no `/tmp`. */
  readonly scratch?: boolean | undefined
  /** Labels of every audit event, at most 32. Names: 1 to 64 of `A-Za-z0-9._-`; values: at most 256 characters. Default: none. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly commands?: CommandDefaults | undefined
  /** Saves earlier states: `createCheckpoints({ stateDirectory })` of `@ws/snapshots`. An unsupported mount is `ENOTSUP`. Default: none. */
  readonly checkpoints?: CheckpointEngine | undefined
  /**
   * The clock of audit events, durations and `startedAt`, in milliseconds since the epoch. Default: the machine's clock.
   * Times of files, checkpoints and connections do not use this clock.
   */
  readonly now?: (() => number) | undefined
  /** Returns numbers from 0 to below 1, for names of `mkdtemp` of `createNodeFs`. Default: the machine's randomness. */
  readonly random?: (() => number) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Defaults of commands and sessions. A call can only lower `timeout` and `maxOutputBytes`, and set `login` to false.
 * Variables of a call override `env`.
 */
export interface CommandDefaults {
  /** Milliseconds, 1 to 2,147,483,647. */
  readonly timeout?: number | undefined
  /** Bytes to keep of each output stream, and of both combined. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Whether shells read the login files. Default true. */
  readonly login?: boolean | undefined
  /** Directory for programs' caches, or `scratch` for `/tmp/.cache`. Not for single commands. Default: `scratch` if possible, else `HOME`. */
  readonly cache?: string | undefined
  /** Author and committer of commits; `env` overrides it. Not for single commands. Default: none, so `git commit` needs another identity. */
  readonly gitIdentity?: { readonly name: string; readonly email: string } | undefined
}

export interface ExecOptions extends SignalOption {
  /** A directory; relative to the workspace's root. Default: the root. */
  readonly cwd?: string | undefined
  /** Variables in addition to the clean environment. No variable of this process reaches a command. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The complete standard input: text as UTF-8, bytes or chunks. Default: empty input. */
  readonly stdin?: StandardInput | undefined
  /** Keeps standard input open for {@link CommandInput}. For `spawn` and `start`, without `stdin`. Default false. */
  readonly writableStdin?: boolean | undefined
  /** Called with each chunk of both streams in reading order. Exceptions and rejections of this function are ignored. Default: none. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined
  /** Milliseconds after which the whole process tree is killed. The result then has `timedOut: true`. Default: no limit. */
  readonly timeout?: number | undefined
  /** Milliseconds between SIGTERM and SIGKILL. Default 2,000. */
  readonly killGrace?: number | undefined
  /** Bytes to keep of each output stream, and of both combined: the first and last bytes. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined
  /** Limits that may lower the executor's limits. A limit that cannot be enforced here is `EUNENFORCEABLE`. */
  readonly limits?: CommandLimits | undefined
  /** A POSIX shell, by absolute path or name. Default, also for an empty or blank string: the user's login shell. */
  readonly shell?: string | undefined
  /**
   * Starts the shell in a state: the `data` of {@link CommandResult.shellState}, or an empty string. The result then has the new state.
   * The shell is `bash` unless `shell` says otherwise; zsh and fish are `ENOTSUP`. Not with `acknowledge`. Default: no state.
   */
  readonly shellState?: string | undefined
  /** True: the shell gets `-lc`; false: `-c`. Default true. */
  readonly login?: boolean | undefined
  /**
   * Names of rules that do not apply to this command; a last resort. An unknown name is `EINVAL`.
   * The shell then reads no start-up file, and PATH has no directory of the workspace, such as `node_modules/.bin`.
   */
  readonly acknowledge?: readonly string[] | undefined
  /** Resolve when all writes of the command survive a power cut, except writes of surviving processes. For `exec`. Default false. */
  readonly durable?: boolean | undefined
  /** Report the changes of files in {@link CommandResult.changes}. `ENOTSUP` without the option `checkpoints`. Default false. */
  readonly changes?: boolean | undefined
}

/**
 * Arguments of a tool call: `{ command }`, or one entry for each word: `{ 'command.0': 'ls', 'command.1': '-la' }`.
 * Words count from 0, or from 1 if 0 is missing. The first missing number ends the list.
 */
export interface CommandArguments {
  readonly command?: string | readonly string[] | undefined
  readonly [name: `command.${number}`]: string | undefined
}

/** A shell command line, a program with its arguments, or the arguments of a tool call [LS5]. */
export type Command = string | readonly string[] | CommandArguments

export interface ExplainRequest {
  /** To explain `edit`, pass `read`, then `write`; to explain `glob`, pass `list`; to explain `realPath`, pass `stat`. */
  readonly operation: FileOperation | 'exec' | 'connect'
  /** The path to check; for `exec`, the working directory. Required, except for `connect`. */
  readonly path?: string | undefined
  /** For `connect`: the name of the host. */
  readonly host?: string | undefined
  /** For `connect`: the port. Default 443. */
  readonly port?: number | undefined
  /** For `connect`: as in {@link ConnectionsOptions}. */
  readonly hosts?: ConnectionsOptions['hosts']
  /** For `exec`: the command that command rules check. Default: a command that these rules allow. */
  readonly command?: Command | undefined
  readonly acknowledge?: readonly string[] | undefined
}

export interface ConnectionsOptions {
  /** The file for which the tool connects. Audit events contain this path. Default: the root. */
  readonly path?: string | undefined
  /** Hosts for the tool, in place of commands' hosts: see `network.allow`. `public`: every public host. Rules can only narrow the list. */
  readonly hosts?: readonly string[] | 'public' | undefined
}

/** Checks the connections of a tool that uses the network for the workspace. The tool calls `judge` before it resolves a name. */
export interface Connections {
  /** Returns whether a connection is allowed, like `explain`. Denies hosts with rules for single requests: only commands may use these. */
  judge(host: string, port: number): ConnectionVerdict
  /** Audits a finished connection, or a refusal. */
  report(report: ConnectionReport): void
}

export interface Explanation {
  readonly effect: 'allow' | 'deny'
  /** The path with links and `..` resolved. If a step failed: the given path. */
  readonly resolvedPath: VirtualPath
  /** The rule that refused; absent if the operation is allowed. */
  readonly rule?: string | undefined
  readonly code?: ErrorCode | undefined
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** For `connect`: the entry of the executor's list that allows the connection. Absent if commands use the machine's network. */
  readonly entry?: string | undefined
  /** The path of the mount. Absent for synthetic directories and aliases. */
  readonly mount?: VirtualPath | undefined
  /** Levels of enforcement at this path. `files` is always `interpreter`. `exec` is the weakest level, and absent without an executor. */
  readonly enforcedBy: { readonly files: 'interpreter'; readonly exec?: GuaranteeLevel | undefined }
  readonly exceptions?: readonly string[] | undefined
  /** Why commands would be refused now, or would run without a rule. */
  readonly unenforceable?:
    | readonly { readonly rule: string; readonly reason: string; readonly remedy: string }[]
    | undefined
  /** For `exec`: how the root is built, if there is a choice. */
  readonly rootForm?: RootForm | undefined
  /** For `exec`: current matches of pattern rules. */
  readonly matches?: readonly { readonly rule: string; readonly path: VirtualPath }[] | undefined
  /** For `exec`: executors before the chosen one, why each cannot be used, and the remedy. */
  readonly passedOver?:
    | readonly { readonly executor: string; readonly reason: string; readonly remedy?: string | undefined }[]
    | undefined
  /** Directories on the path that commands cannot rename or link entries into or out of (`EXDEV`). */
  readonly renameBorders?: readonly VirtualPath[] | undefined
}

/** The audit record of one operation of the file API or one command. */
export interface AccessEvent {
  /** The workspace's labels; `{}` if it has none. */
  readonly labels: Readonly<Record<string, string>>
  /** True if a tool tried this operation in order to correct a model's mistake. */
  readonly rehearsal?: true | undefined
  /** The places that a person granted to the call of a tool that did this. */
  readonly granted?: readonly Asked[] | undefined
  /** Time of the start, in milliseconds since the epoch. */
  readonly time: number
  readonly door: 'files' | 'exec'
  /** The method's name, or `closeSession`, or `connect` for a connection. `exists` appears as `stat`, and all reading methods as `read`. */
  readonly operation: string
  /** The path as the caller passed it; for commands the working directory. */
  readonly path: string
  /** The path with links and `..` resolved, if it differs; for a denial, the refused path. */
  readonly resolvedPath?: VirtualPath | undefined
  readonly destination?: string | undefined
  /** `allowed`: done, also with a nonzero exit code. `denied`: the policy or a mount refused. `aborted`: the signal was aborted. */
  readonly outcome: 'allowed' | 'denied' | 'failed' | 'aborted'
  /** The error's code; `ECANCELED` for `aborted`. */
  readonly code?: string | undefined
  readonly rule?: string | undefined
  /** Milliseconds. */
  readonly duration: number
  readonly command?: string | undefined
  readonly executor?: string | undefined
  readonly acknowledged?: readonly string[] | undefined
  /** This field and the fields below are as in {@link CommandResult}. Absent if the end is unknown. */
  readonly exitCode?: number | null | undefined
  readonly signal?: string | null | undefined
  /** Also true for a session that `idleTimeout` ended. */
  readonly timedOut?: boolean | undefined
  readonly survivors?: true | undefined
  /** For a session: the bytes of its single stream. */
  readonly stdoutBytes?: number | undefined
  readonly stderrBytes?: number | undefined
  readonly violations?: readonly RuleViolation[] | undefined
  /** For `connect`: one event when a connection ends, and one for each refusal. */
  readonly connection?: AccessedHost | undefined
  /** For `publish` and `unpublish`: the port of the workspace. */
  readonly port?: number | undefined
}

interface AccessedHost
  extends Pick<ConnectionReport, 'host' | 'port' | 'entry' | 'reason' | 'sentBytes' | 'receivedBytes' | 'shared'> {
  /** Set in a final event with the host `*`. The number of connections above 10,000 allowed, or above 1,000 of another outcome. */
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

/** One tree of files with a file API and a shell. Close the workspace, or declare it with `await using`. */
export interface Workspace extends FileDoor, CheckpointDoor, ForkDoor, LongRunning, PortDoor, AsyncDisposable {
  /** The path of the first mount: the start of relative paths, and `HOME` and `PWD` of commands. */
  readonly root: VirtualPath
  readonly mounts: readonly MountInfo[]
  /** True if the option `checkpoints` was given. */
  readonly keepsCheckpoints: boolean
  /** Absent if the workspace has no executors. */
  readonly executor:
    | {
        readonly name: string
        readonly guarantees: Guarantees
        /** One sentence for models: the usual programs and shell forms that are missing. */
        readonly lacks?: string | undefined
        /** A server that a command leaves running is reached by later commands, at `localhost`. */
        readonly sharesLoopback?: true | undefined
      }
    | undefined

  /**
   * Runs a command to its end. Resolves for any exit code. `ENOEXECUTOR`: no executor. `ENOEXEC`: failed start. `EINVAL`: blank, or NUL.
   * `EUNENFORCEABLE`: a rule cannot be enforced. An abort rejects with `signal.reason`.
   */
  exec(command: Command, options?: ExecOptions): Promise<CommandResult>
  /** Starts a command and returns its streams. Rejects as `exec` does. */
  spawn(command: Command, options?: ExecOptions): Promise<RunningCommand>
  /**
   * Runs a command, shows its changes, and keeps or takes them back. Takes it back at `close`, and if this process dies, in the next one.
   * @throws WorkspaceError `ENOTSUP`: no checkpoints; `EBUSY`: in a try, another writer, or work that runs; `EROFS`: nothing is writable
   */
  try(command: Command, options?: TryOptions): Promise<Try<CommandResult>>
  /** Tries what a function does with its workspace. When the function ends, its commands and sessions end too. */
  try<Result>(
    work: (workspace: Workspace) => Promise<Result>,
    options?: Pick<TryOptions, 'exclusive' | 'fork' | 'network' | 'decideWithin'>,
  ): Promise<Try<Result>>
  /** The result of taking back a try that was open when an earlier process ended. The workspace does so when it is made. */
  readonly droppedTry: RestoreResult | undefined
  /** Returns whether the policy allows an operation, and how the policy is enforced. A denied operation does not reject. */
  explain(request: ExplainRequest): Promise<Explanation>
  /** Checks and audits the connections of a tool, by the host list and the rules for commands. */
  connections(options?: ConnectionsOptions): Connections
  /** Subscribes to the audit. Returns a function that unsubscribes. Exceptions of the listener are ignored. */
  on<Name extends keyof WorkspaceEvents>(name: Name, listener: WorkspaceEvents[Name]): () => void
  /**
   * Makes acknowledged changes, and files of ended commands, survive a power cut. On a local disk, syncs the whole file system.
   * `ENOTSUP` if the system cannot sync. Does not cover `/tmp`, memory, and a disk that reports cached data as written.
   */
  flush(options?: SignalOption): Promise<void>
  /** Ends sessions and commands, uploads pending changes, empties `/tmp`, closes adapters. Later calls are `ECLOSED`. Does not sync. */
  close(): Promise<void>
}
