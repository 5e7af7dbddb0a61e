import type { RuleViolation, VirtualPath, WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type {
  AttachedExecutor,
  BindPlan,
  CommandRequest,
  Executor,
  ExecutorResult,
  Guarantees,
  KillSignal,
  ProbeReport,
  WorkspaceView,
} from '@ws/core/executor'
import type { Writable } from 'node:stream'

import type { OutputListener } from '../run/types.ts'
import type { TerminalDevice } from '../terminal/start.ts'
import type { LocalCommand } from './start-local.ts'

export interface ConfinedTarget {
  readonly root: VirtualPath
  /** Never uid 0. */
  readonly owner: Owner
}

/** `found`: commands can run. Otherwise the report names missing parts and remedies. Default: no further details. */
export interface Probed<Found> extends Partial<Omit<ProbeReport, 'available' | 'guarantees'>> {
  readonly found?: Found | undefined
}

/** @param isRight whether the output is as expected. Default: any output of a command that succeeds */
export type TryOut<Found, Options> = (
  found: Found,
  command: string,
  more?: { readonly isRight?: (output: string) => boolean; readonly options?: Options },
) => Promise<Trial>

/** The output of a tried command, or why it failed. */
export type Trial =
  | { readonly output: string; readonly problem?: undefined }
  | { readonly problem: string; readonly remedy?: string | undefined }

/** A kind of executor. See the guide "Write an executor". */
export interface ExecutorDriver<Options, Found> {
  readonly name: string
  /** `process` (default): commands run as the owner, never as root. `interpreter`: there is no owner. */
  readonly kind?: Executor['kind'] | undefined
  /** Bare names of the programs of commands. While the program files are unchanged, one probe serves equal targets. Absent: no cache. */
  readonly programs?: readonly string[] | undefined
  /** Probes by running commands. Must end without a signal. `tryOut` runs in a workspace whose file `probe` contains `workspace`. */
  probe(target: ConfinedTarget, options: Options, tryOut: TryOut<Found, Options>): Promise<Probed<Found>>
  /** More details for the operator, on demand. */
  describe?(target: ConfinedTarget, found: Found, options: Options): Promise<ProbeReport['details']>
  guarantees(found: Found, options: Options): Guarantees
  /** Makes the driver of the commands of one workspace. */
  attach(view: WorkspaceView & ConfinedTarget, found: Found, options: Options): CommandDriver | Promise<CommandDriver>
}

/** Runs the commands of one workspace. The base interprets ends and applies timeouts. */
export interface CommandDriver {
  /** Parts of {@link AttachedExecutor} that need no command: limits, names at `/`, and unenforceable restrictions. */
  readonly facts?: Omit<AttachedExecutor, 'guarantees' | 'spawn' | 'openTerminal' | 'close'> | undefined
  /** Terminals of commands. `true`: `prepare` gets one of this machine. `own`: `start` makes one. Default false: sessions are `ENOTSUP`. */
  readonly hasTerminals?: boolean | 'own' | undefined
  /** Milliseconds after the last signal in which the driver must report the end. Default 10 s. */
  readonly patience?: number | undefined
  /**
   * Makes every check that can refuse a command before its start. Once its `signal` is aborted, no command may start.
   * @throws WorkspaceError with the reason why the command cannot run; `EBUSY` as `start`
   */
  prepare(plan: BindPlan, request: CommandRequest, terminal?: TerminalDevice): Promise<PreparedCommand | LocalCommand>
  /**
   * Starts the command; the start ends when the signal is aborted. Default: starts the {@link LocalCommand} that `prepare` gives.
   * @throws WorkspaceError `EBUSY` when a prepared part has changed: the base prepares again, up to 6 times in all
   */
  start?(prepared: PreparedCommand, run: CommandRun): Promise<CommandPort>
  /** The error of a `lost` or `unstarted` end. `undefined`: the usual error, or none after a kill. */
  explainFailure?(end: CommandEnd, known: KnownEnd): WorkspaceError | undefined
  /** Releases all resources after the last command. May be called twice. */
  close?(): Promise<void>
}

export interface PreparedCommand {
  /** Closes resources of the start; called once. */
  close?(): void
  /** Releases reservations when no process of the command remains, or when it did not start. May be called twice. */
  release?(): Promise<void>
}

export interface CommandRun {
  readonly request: CommandRequest
  /** The command has input; the base writes it to {@link CommandPort.stdin}. */
  readonly hasInput: boolean
  /** The size of the terminal, with output at `onStdout` and typing as input. */
  readonly terminal?: { readonly columns: number; readonly rows: number } | undefined
  /** Call the listener with each chunk until {@link CommandPort.gone}. The chunk may be reused. Wait for a returned promise. */
  readonly onStdout: OutputListener
  readonly onStderr: OutputListener
}

export interface CommandPort {
  readonly stdin?: Writable | undefined
  /** Sends a signal, without waiting. False if it certainly reaches no process. `everyone`: all known processes of the command. */
  signal(name: KillSignal, whom: 'command' | 'everyone'): boolean
  /** Resizes the command's own terminal. False when it is closed. */
  resize?(columns: number, rows: number): boolean
  /** Ends all processes of the command at once. Repeated calls are fine. */
  end(): void
  /** The end of the command. Rejects with a `WorkspaceError` if it never ran. */
  readonly exited: Promise<CommandEnd>
  /** Resolves when only {@link CommandEnd.survivors} are left and all output was given. Default: {@link exited}. */
  readonly gone?: Promise<Pick<CommandEnd, 'survivors'> | void> | undefined
  /** True if processes remain that no signal ends. Default false. */
  readonly survivors?: boolean | undefined
}

/** The end of a command. One of the first five properties is set. */
export interface CommandEnd {
  /** 0 to 255. */
  readonly status?: number | undefined
  /** The status from a shell: 128 plus the number of a sent signal means that signal. */
  readonly shellStatus?: number | undefined
  /** The name of the signal that ended the command. With `lost`, only a guess. */
  readonly signal?: string | undefined
  /** True if the command ran, but its end is unknown. */
  readonly lost?: boolean | undefined
  readonly unstarted?: boolean | undefined
  /** True if processes remain that no signal ends. Nothing waits for these processes. */
  readonly survivors?: boolean | undefined
  readonly violations?: readonly RuleViolation[] | undefined
}

export interface KnownEnd {
  readonly result: ExecutorResult
  readonly request: CommandRequest
  readonly sent: ReadonlySet<string>
}
