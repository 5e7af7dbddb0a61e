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

/** The answer of a probe: `found` where commands can be run, else what is missing and how to mend it. Default: nothing more. */
export interface Probed<Found> extends Partial<Omit<ProbeReport, 'available' | 'guarantees'>> {
  readonly found?: Found | undefined
}

/** @param isRight whether its output is the expected one. Default: any output of a command that ends well. */
export type TryOut<Found, Options> = (
  found: Found,
  command: string,
  more?: { readonly isRight?: (output: string) => boolean; readonly options?: Options },
) => Promise<Trial>

/** The output of a command that was tried out, or why it did not work. */
export type Trial =
  | { readonly output: string; readonly problem?: undefined }
  | { readonly problem: string; readonly remedy?: string | undefined }

/** A kind of executor. See the guide "Write an executor". */
export interface ExecutorDriver<Options, Found> {
  readonly name: string
  /** `process` (default): commands run as the owner, never as root. `interpreter`: there is no owner. */
  readonly kind?: Executor['kind'] | undefined
  /** Bare names of the programs of commands. While the files stay the same, one probe serves equal targets. Absent: nothing is kept. */
  readonly programs?: readonly string[] | undefined
  /**
   * Finds out what works, by running it. It ends by itself. `tryOut` runs a command in a workspace whose file `probe` holds `workspace`.
   */
  probe(target: ConfinedTarget, options: Options, tryOut: TryOut<Found, Options>): Promise<Probed<Found>>
  /** More details for the operator: tried when a probe asks for them. */
  describe?(target: ConfinedTarget, found: Found, options: Options): Promise<ProbeReport['details']>
  guarantees(found: Found, options: Options): Guarantees
  /** Makes what runs the commands of one workspace. */
  attach(view: WorkspaceView & ConfinedTarget, found: Found, options: Options): CommandDriver | Promise<CommandDriver>
}

/** Runs the commands of one workspace. It judges no end and keeps no time: the base does. */
export interface CommandDriver {
  /** The parts of {@link AttachedExecutor} that need no command: limits, names at `/`, and what cannot be held. */
  readonly facts?: Omit<AttachedExecutor, 'guarantees' | 'spawn' | 'openTerminal' | 'close'> | undefined
  /**
   * Commands can have a terminal. `true`: of this machine, given to `prepare`. `own`: made by `start`. Default false: sessions are
   * `ENOTSUP`.
   */
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
  /** Releases everything. No command is left. It may be called twice. */
  close?(): Promise<void>
}

export interface PreparedCommand {
  /** Closes the parts that only the start needs; called once, when the start is over. */
  close?(): void
  /** Lets go of what was reserved; called when nothing of the command is left, or when it did not start. Twice is fine. */
  release?(): Promise<void>
}

export interface CommandRun {
  readonly request: CommandRequest
  /** The command has input; the base writes it to {@link CommandPort.stdin}. */
  readonly hasInput: boolean
  /** The size of the terminal that the command gets; its output goes to `onStdout`, and what is typed comes as input. */
  readonly terminal?: { readonly columns: number; readonly rows: number } | undefined
  /** To be called with each chunk, up to {@link CommandPort.gone}. The chunk may be used again. A promise asks to wait before the next. */
  readonly onStdout: OutputListener
  readonly onStderr: OutputListener
}

export interface CommandPort {
  readonly stdin?: Writable | undefined
  /** Sends a signal, without waiting. False where it certainly reaches nothing. `everyone`: all that the command started, if known. */
  signal(name: KillSignal, whom: 'command' | 'everyone'): boolean
  /** Gives the command's own terminal another size, in characters. False when it is closed. */
  resize?(columns: number, rows: number): boolean
  /** Ends everything that the command started, at once. Twice is fine. */
  end(): void
  /** How the command ended. Rejects with a `WorkspaceError` where it never ran. */
  readonly exited: Promise<CommandEnd>
  /** Nothing of the command is left, or only {@link CommandEnd.survivors}, and all output was given. Default: {@link exited}. */
  readonly gone?: Promise<Pick<CommandEnd, 'survivors'> | void> | undefined
  /** Processes are left that no signal ends. Default false. */
  readonly survivors?: boolean | undefined
}

/** The end of a command. One of the first five is there. */
export interface CommandEnd {
  /** 0 to 255. */
  readonly status?: number | undefined
  /** The same from a shell, where 128 and a number may be a signal: one that was sent from here counts as such. */
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
