import type { RuleViolation, ShellState, VirtualPath, WorkspaceError } from '@ws/core'
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
  /** The user of commands. Never uid 0. */
  readonly owner: Owner
}

/** With `found`, commands can run. Without it, the report contains the missing parts and remedies. */
export interface Probed<Found> extends Partial<Omit<ProbeReport, 'available' | 'guarantees'>> {
  readonly found?: Found | undefined
}

/** @param isRight returns whether the output is as expected. Default: accepts any output if the command succeeds */
export type TryOut<Found, Options> = (
  found: Found,
  command: string,
  more?: { readonly isRight?: (output: string) => boolean; readonly options?: Options },
) => Promise<Trial>

/** The output of a tried command, or why it failed. */
export type Trial =
  | { readonly output: string; readonly problem?: undefined }
  | { readonly problem: string; readonly remedy?: string | undefined }

/** The driver of one kind of executor. See the guide "Write an executor". */
export interface ExecutorDriver<Options, Found> {
  readonly name: string
  /** `process` (default): commands run as the owner, never as root. `interpreter`: commands have no owner. */
  readonly kind?: Executor['kind'] | undefined
  /** The systems on which commands run. Elsewhere, the probe names what works there. Absent: all systems. */
  readonly systems?: readonly NodeJS.Platform[] | undefined
  /** Bare names of the programs that run commands. While their files do not change, equal targets share one probe. Absent: no cache. */
  readonly programs?: readonly string[] | undefined
  /** Finds out what works by running commands. Must end by itself. Commands of `tryOut` see a file `probe` that contains `workspace`. */
  probe(target: ConfinedTarget, options: Options, tryOut: TryOut<Found, Options>): Promise<Probed<Found>>
  /** Returns more details for the operator, on demand. */
  describe?(target: ConfinedTarget, found: Found, options: Options): Promise<ProbeReport['details']>
  guarantees(found: Found, options: Options): Guarantees
  /** Makes the command driver of one workspace. */
  attach(view: WorkspaceView & ConfinedTarget, found: Found, options: Options): CommandDriver | Promise<CommandDriver>
}

/** Runs the commands of one workspace. The base interprets how commands end, and applies timeouts. */
export interface CommandDriver {
  /** Facts of {@link AttachedExecutor} that need no running command: limits, names at `/`, and unenforceable restrictions. */
  readonly facts?: Omit<AttachedExecutor, 'guarantees' | 'spawn' | 'openTerminal' | 'close'> | undefined
  /** `true`: `prepare` gets a terminal of this machine. `own`: `start` makes a terminal. Default false: sessions are `ENOTSUP`. */
  readonly hasTerminals?: boolean | 'own' | undefined
  /** Milliseconds after the last signal within which the driver must report the end. Default 10 s. */
  readonly patience?: number | undefined
  /**
   * Runs every check that can refuse a command before its start. After an abort of its `signal`, no command may start.
   * @throws WorkspaceError with the reason why the command cannot run; `EBUSY` as in `start`
   */
  prepare(plan: BindPlan, request: DriverRequest, terminal?: TerminalDevice): Promise<PreparedCommand | LocalCommand>
  /**
   * Starts the command. An abort of the signal ends the start. Default: starts the {@link LocalCommand} that `prepare` returns.
   * @throws WorkspaceError `EBUSY` if a prepared part has changed: the base then prepares again, up to 6 times in total
   */
  start?(prepared: PreparedCommand, run: CommandRun): Promise<CommandPort>
  /** Returns the error for a `lost` or `unstarted` end. `undefined`: the usual error, or no error after a kill. */
  explainFailure?(end: CommandEnd, known: KnownEnd): WorkspaceError | undefined
  /** Releases all resources after the last command. May be called twice. */
  close?(): Promise<void>
}

export interface PreparedCommand {
  /** Closes resources that only the start needs. Called once. */
  close?(): void
  /** Releases reservations, when no process of the command remains or the start failed. May be called twice. */
  release?(): Promise<void>
}

export interface DriverRequest extends CommandRequest {
  /**
   * Set for a command with `shellState`: lets the shell begin in that state, and report its own. {@link commandLine} applies it.
   * With `keeps`, only plain variables whose name it accepts are kept: the executor has judged the line by its words.
   */
  readonly inState?: ((line: string, shell: string, keeps?: (name: string) => boolean) => string) | undefined
}

export interface CommandRun {
  readonly request: CommandRequest
  /** True if the command has input. The base writes the input to {@link CommandPort.stdin}. */
  readonly hasInput: boolean
  /** The size of the terminal. Its output goes to `onStdout`, and its input is the typed text. */
  readonly terminal?: { readonly columns: number; readonly rows: number } | undefined
  /** Call this with each chunk until {@link CommandPort.gone}, and await a returned promise. The chunk may be reused afterwards. */
  readonly onStdout: OutputListener
  readonly onStderr: OutputListener
}

export interface CommandPort {
  readonly stdin?: Writable | undefined
  /** Sends a signal, without waiting. Returns false if it certainly reaches no process. `everyone`: all known processes of the command. */
  signal(name: KillSignal, whom: 'command' | 'everyone'): boolean
  /** Resizes the command's own terminal. Returns false if the terminal is closed. */
  resize?(columns: number, rows: number): boolean
  /** Kills all processes of the command at once. May be called again. */
  end(): void
  /** Resolves with the end of the command. Rejects with a `WorkspaceError` if the command never ran. */
  readonly exited: Promise<CommandEnd>
  /** Resolves when only {@link CommandEnd.survivors} remain and all output was delivered. Default: {@link exited}. */
  readonly gone?: Promise<Pick<CommandEnd, 'survivors'> | void> | undefined
  /** True if processes remain that no signal can end. Default false. */
  readonly survivors?: boolean | undefined
}

/** How a command ended. One of the first five properties is set. */
export interface CommandEnd {
  /** The exit status, 0 to 255. */
  readonly status?: number | undefined
  /** The exit status from a shell. A status of 128 plus the number of a sent signal means that this signal ended the command. */
  readonly shellStatus?: number | undefined
  /** The name of the signal that ended the command. With `lost`, the name is a guess. */
  readonly signal?: string | undefined
  /** True if the command ran, but its end is unknown. */
  readonly lost?: boolean | undefined
  readonly unstarted?: boolean | undefined
  /** True if processes remain that no signal can end. The base does not wait for these. */
  readonly survivors?: boolean | undefined
  readonly violations?: readonly RuleViolation[] | undefined
  /** For an interpreter: the state that it knows without {@link DriverRequest.inState}. */
  readonly shellState?: ShellState | undefined
}

export interface KnownEnd {
  readonly result: ExecutorResult
  readonly request: CommandRequest
  readonly sent: ReadonlySet<string>
}
