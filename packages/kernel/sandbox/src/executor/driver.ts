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

/** `found`: commands can run; else what is missing, and how to mend it. Default: nothing more. */
export interface Probed<Found> extends Partial<Omit<ProbeReport, 'available' | 'guarantees'>> {
  readonly found?: Found | undefined
}

/** @param isRight whether the output is as expected. Default: any output of a command that ends well */
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
  /** Bare names of the programs of commands. While their files stay the same, a probe serves equal targets. Absent: no cache. */
  readonly programs?: readonly string[] | undefined
  /** Finds out what works, by running it. Ends by itself. `tryOut` runs in a workspace whose file `probe` holds `workspace`. */
  probe(target: ConfinedTarget, options: Options, tryOut: TryOut<Found, Options>): Promise<Probed<Found>>
  /** More details for the operator, on demand. */
  describe?(target: ConfinedTarget, found: Found, options: Options): Promise<ProbeReport['details']>
  guarantees(found: Found, options: Options): Guarantees
  /** Makes what runs the commands of one workspace. */
  attach(view: WorkspaceView & ConfinedTarget, found: Found, options: Options): CommandDriver | Promise<CommandDriver>
}

/** Runs the commands of one workspace. The base judges ends and keeps time. */
export interface CommandDriver {
  /** Parts of {@link AttachedExecutor} without a command: limits, names at `/`, and what cannot be held. */
  readonly facts?: Omit<AttachedExecutor, 'guarantees' | 'spawn' | 'openTerminal' | 'close'> | undefined
  /** Commands can have a terminal. `true`: of this machine, for `prepare`. `own`: by `start`. Default false: sessions are `ENOTSUP`. */
  readonly hasTerminals?: boolean | 'own' | undefined
  /** Milliseconds after the last signal in which the driver reports the end. Default 10 s. */
  readonly patience?: number | undefined
  /**
   * Does everything that can be refused before a start. Its `signal`: nothing may start any more.
   * @throws WorkspaceError that says why the command cannot run; `EBUSY` as `start`
   */
  prepare(plan: BindPlan, request: CommandRequest, terminal?: TerminalDevice): Promise<PreparedCommand | LocalCommand>
  /**
   * Starts the command; ends by itself when the signal is aborted. Default: starts the {@link LocalCommand} that `prepare` gives.
   * @throws WorkspaceError `EBUSY` when what was prepared has changed: it is prepared anew, up to 6 times in all
   */
  start?(prepared: PreparedCommand, run: CommandRun): Promise<CommandPort>
  /** The error of a `lost` or `unstarted` end; `undefined`: the usual one, which is no error after a kill. */
  explainFailure?(end: CommandEnd, known: KnownEnd): WorkspaceError | undefined
  /** Releases everything. No command is left. Twice is fine. */
  close?(): Promise<void>
}

export interface PreparedCommand {
  /** Closes parts of the start; called once. */
  close?(): void
  /** Releases reservations, when nothing of the command is left or it did not start. Twice is fine. */
  release?(): Promise<void>
}

export interface CommandRun {
  readonly request: CommandRequest
  /** The command has input; the base writes it to {@link CommandPort.stdin}. */
  readonly hasInput: boolean
  /** The size of the terminal, with output at `onStdout` and typing as input. */
  readonly terminal?: { readonly columns: number; readonly rows: number } | undefined
  /** Call it with each chunk, up to {@link CommandPort.gone}. The chunk may be reused. A promise asks to wait. */
  readonly onStdout: OutputListener
  readonly onStderr: OutputListener
}

export interface CommandPort {
  readonly stdin?: Writable | undefined
  /** Sends a signal, without waiting. False where it certainly reaches nothing. `everyone`: all that the command started, if known. */
  signal(name: KillSignal, whom: 'command' | 'everyone'): boolean
  /** Resizes the command's own terminal. False when it is closed. */
  resize?(columns: number, rows: number): boolean
  /** Ends everything that the command started, at once. Twice is fine. */
  end(): void
  /** The end of the command. Rejects with a `WorkspaceError` if it never ran. */
  readonly exited: Promise<CommandEnd>
  /** Nothing of the command is left but {@link CommandEnd.survivors}, and all output was given. Default: {@link exited}. */
  readonly gone?: Promise<Pick<CommandEnd, 'survivors'> | void> | undefined
  /** Processes are left that no signal ends. Default false. */
  readonly survivors?: boolean | undefined
}

/** The end of a command. One of the first five is there. */
export interface CommandEnd {
  /** 0 to 255. */
  readonly status?: number | undefined
  /** The status from a shell: 128 and a sent signal's number means that signal. */
  readonly shellStatus?: number | undefined
  /** The name of the signal that ended it. With `lost`, only a guess. */
  readonly signal?: string | undefined
  /** It ran, and its end is not known. */
  readonly lost?: boolean | undefined
  readonly unstarted?: boolean | undefined
  /** Processes are left that no signal ends. They are not waited for. */
  readonly survivors?: boolean | undefined
  readonly violations?: readonly RuleViolation[] | undefined
}

export interface KnownEnd {
  readonly result: ExecutorResult
  readonly request: CommandRequest
  readonly sent: ReadonlySet<string>
}
