import type { BeginCommandOptions } from '../adapter/types.ts'
import type { EndedCommand } from './begin-command.ts'
import type { BindPlan } from '../executor/bind-plan.ts'
import type { CommandRequest, CommandResult, RunningCommand } from '../executor/contract.ts'
import { typedError } from '../executor/exec-error.ts'
import { requireLimits } from '../executor/limits.ts'
import { isWorkspaceError, rewriteError } from '../errors.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { auditOf, connectionAudit, type ConnectionAudit } from './command-audit.ts'
import { acknowledgedBy, narrowCommand } from './command-options.ts'
import { normaliseCommand, quoteForShell, type NormalisedCommand } from './command.ts'
import { admitCall, parseFor, type Context } from '../calls/context.ts'
import { checkAcknowledged, planFor, requireEntrance, requireHeld, type ChosenExecutor } from './enforcement.ts'
import { virtualError } from '../mount/errors.ts'
import { closedInput, InputPipe } from './input-pipe.ts'
import { judgeCommand } from './judged-command.ts'
import { requireNames } from '../mount/mount-points.ts'
import { listeners } from './output-listener.ts'
import { checkMethod } from '../calls/method-options.ts'
import { startInTime } from './start-in-time.ts'
import type { LiveCheckpoints } from '../checkpoints/door.ts'
import type { Command, ExecOptions } from '../workspace/types.ts'
import { notDirectoryError } from '../mount/walk.ts'

export interface CommandDoor {
  readonly context: Context
  readonly executor: ChosenExecutor | undefined
  /** Makes what a command needs to find: the scratch. */
  prepare(): Promise<void>
  /** Tells the adapters that a command begins; gives nothing where none of them wants to know. */
  begin(options: BeginCommandOptions): Promise<EndedCommand | undefined>
  /** Everything that was written survives a power cut. */
  sync(): Promise<void>
  readonly running: Set<RunningCommand>
  /** Called before a command may change something, and after it has ended. */
  readonly checkpoints: Pick<LiveCheckpoints, 'before' | 'after'>
}

export const defaultOutputBytes = 1024 * 1024
export const defaultKillGrace = 2000

export async function exec(door: CommandDoor, command: Command, options: ExecOptions = {}): Promise<CommandResult> {
  checkMethod('exec', 'exec', options)
  if (options.writableStdin === true) {
    throw useless(
      'exec',
      '`exec` gives nothing to write with, so `writableStdin` would leave the command waiting',
      'use `spawn` or `start`, or give the whole input as `stdin`',
    )
  }
  const { running } = await launch(door, command, options)
  releaseOutput(running)
  const result = await running.wait()
  if (options.durable === true) await door.sync()
  return result
}

/** Releases the output without reading it. Output that was not read is kept, so a caller can still read it. */
export function releaseOutput({ stdout, stderr }: RunningCommand): void {
  for (const stream of [stdout, stderr]) void stream[Symbol.asyncIterator]().return?.()
}

export async function spawn(door: CommandDoor, command: Command, options: ExecOptions = {}): Promise<RunningCommand> {
  checkMethod('exec', 'spawn', options)
  if (options.durable === true) {
    throw useless(
      'spawn',
      '`durable` waits for the end of the command, and `spawn` does not',
      'use `exec`, or call `flush` of the workspace when the command has ended',
    )
  }
  const { running } = await launch(door, command, options)
  return running
}

/**
 * Starts a command after all checks, and leaves one audit event when it ends, or is refused.
 *
 * @param background given for a command that nothing waits for. Its `onOutput` is called with output before the caller's
 * own listener; it must not throw, and copies the bytes that it keeps
 */
export async function launch(
  door: CommandDoor,
  command: Command,
  options: ExecOptions,
  background?: { readonly onOutput: CommandRequest['onOutput'] },
): Promise<{ readonly running: RunningCommand; readonly line: string }> {
  const audit = auditOf(door, { operation: 'exec', command, options })
  try {
    const { timeout } = narrowCommand(door.context.commands, options)
    const limits = { operation: 'exec', timeout, signal: options.signal }
    const input = options.writableStdin === true ? openInput(options) : undefined
    const streams = { stdin: input ?? options.stdin, onOutput: listeners(background?.onOutput, options.onOutput) }
    let connections: ConnectionAudit | undefined
    const start = async (left: () => number | undefined) => {
      const asked = { onAdmitted: audit.onAdmitted, background: background !== undefined }
      const admitted = await admit(door, command, options, asked)
      const { normalised, executor } = admitted
      connections = connectionAudit(door, admitted.cwd)
      const running = await orEnd(admitted, async () => {
        await door.checkpoints.before(`before \`${normalised.line}\``)
        return startPlanned(door, admitted, async (plan) =>
          judgeCommand(
            await executor.attached.spawn(
              { ...request(admitted, left()), ...streams, onConnection: connections?.hear },
              plan,
            ),
            input ?? closedInput,
            { ...admitted, ...door.context, plan },
          ),
        )
      })
      return { running, line: normalised.line }
    }
    const started = await startInTime(limits, start, ({ running }) => running)
    const { running } = started
    door.running.add(running)
    const forget = (): void => {
      door.running.delete(running)
      connections?.end()
      door.checkpoints.after()
      input?.close()
    }
    running.wait().then(
      (result) => {
        forget()
        audit.done(result)
      },
      (error: unknown) => {
        forget()
        audit.failed(error, running.survivors)
      },
    )
    return started
  } catch (error) {
    audit.failed(error)
    throw error
  }
}

/** @throws WorkspaceError `EINVAL` where the whole input is given as well */
function openInput({ stdin }: ExecOptions): InputPipe {
  if (stdin === undefined) return new InputPipe()
  throw virtualError({
    code: 'EINVAL',
    operation: 'exec',
    reason: '`stdin` and `writableStdin` cannot be given together',
    remedy: 'write the content of `stdin` with `writeInput`',
  })
}

/** How often a command is started whose missing names appear meanwhile. */
const startAttempts = 3

/** Starts by a plan; by a new one where a name that was missing, and had to be reserved, has appeared meanwhile. */
export async function startPlanned<Started>(
  { context }: CommandDoor,
  { plan: first, executor, acknowledged }: Pick<Admitted<unknown>, 'plan' | 'executor' | 'acknowledged'>,
  start: (plan: BindPlan) => Promise<Started>,
  operation = 'exec',
): Promise<Started> {
  let plan = first
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(plan)
    } catch (error) {
      const mayHaveAppeared = isWorkspaceError(error, 'EBUSY') && plan.binds.some(({ missing }) => missing)
      if (attempt >= startAttempts || !mayHaveAppeared) throw typedError(error, operation)
      plan = await planFor(context, executor, acknowledged)
      requireHeld(plan, executor, acknowledged)
    }
  }
}

interface AdmitOptions {
  readonly operation?: string | undefined
  /** Called with the line that the policy judges, and again with its directory once that is known. */
  readonly onAdmitted?: ((line: string, cwd?: VirtualPath) => void) | undefined
  /** Nothing is to be started: nothing is made, and without a command, no rule about commands is asked. Default false. */
  readonly looksOnly?: boolean | undefined
  /** Nothing waits for its end. Default false. */
  readonly background?: boolean | undefined
}

interface Admitted<Normalised> {
  readonly normalised: Normalised
  readonly cwd: VirtualPath
  readonly plan: BindPlan
  readonly executor: ChosenExecutor
  readonly acknowledged: ReadonlySet<string>
  /** The options of the call, narrowed by the defaults of the workspace. */
  readonly narrowed: ExecOptions
  readonly cache: VirtualPath | undefined
  /** A rule was acknowledged: nothing in the workspace may decide how the command starts. */
  readonly bare: boolean
  /** To be called when the command has ended, or does not start after all. */
  readonly end?: EndedCommand | undefined
}

/** Starts what was admitted. Where that fails, the adapters learn that there is no command. */
export async function orEnd<Started>({ end }: Pick<Admitted<unknown>, 'end'>, start: () => Promise<Started>) {
  try {
    return await start()
  } catch (error) {
    await end?.().catch(() => undefined) // the first failure is the one that counts
    throw error
  }
}

/**
 * Everything that a command has to pass before it may run, in a terminal or without one. Without a command, the shell
 * that is to read them from a terminal is what the policy judges: it cannot see what is typed.
 */
export async function admit<Given extends Command | undefined>(
  door: CommandDoor,
  command: Given,
  options: ExecOptions,
  { operation = 'exec', onAdmitted, looksOnly = false, background = false }: AdmitOptions = {},
): Promise<Admitted<Given extends undefined ? NormalisedCommand | undefined : NormalisedCommand>> {
  const { context, executor } = door
  admitCall(context, operation, options.signal)
  const normalised = command === undefined ? undefined : normaliseCommand(command, options.shell)
  const judged = normalised ?? { line: `${quoteForShell(options.shell?.trim() || 'sh')} -i` }
  onAdmitted?.(judged.line)
  if (normalised !== undefined || !looksOnly) admitCommand(context, judged, options.shell)
  if (executor === undefined) throw noExecutorError(door)
  const acknowledged = acknowledgedBy(options)
  checkAcknowledged(context, acknowledged)
  const { limits: reports } = executor.attached
  requireLimits(options.limits ?? {}, { executor: executor.name, reports, operation })
  const end = looksOnly ? undefined : await door.begin({ signal: options.signal, background })
  return orEnd({ end }, async () => {
    const cwd = await resolveCwd(context, options.cwd)
    onAdmitted?.(judged.line, cwd)
    if (!looksOnly) await door.prepare()
    await requireNames(context.mounts, executor.needs)
    const plan = await planFor(context, executor, acknowledged, { looksOnly })
    requireHeld(plan, executor, acknowledged)
    requireEntrance(plan, executor, cwd)
    return {
      normalised: normalised as NormalisedCommand,
      cwd,
      plan,
      executor,
      acknowledged,
      narrowed: narrowCommand(context.commands, options),
      cache: context.commands.cache as VirtualPath | undefined,
      bare: acknowledged.size > 0,
      end,
    }
  })
}

/** Asks the policy for the line. Also without an executor, so that the answer does not depend on the machine. */
function admitCommand({ gate }: Context, { line, shell }: NormalisedCommand, asked: string | undefined): void {
  const decision = gate.policy.decideCommand?.({ line, shell: asked?.trim() ? asked : shell })
  if (decision === undefined || decision.effect === 'allow') return
  const { code, rule, reason, remedy } = decision
  throw virtualError({ code, operation: 'exec', rule, reason, remedy })
}

async function resolveCwd(context: Context, cwd: string | undefined): Promise<VirtualPath> {
  if (cwd === undefined || cwd === '') return context.root
  const budget = { links: 0 }
  try {
    const parsed = parseFor(context, 'exec', cwd)
    const path = await context.walker.settle('stat', parsed.path, budget)
    const found = await context.walker.follow('stat', path, budget)
    if (found.stat.type !== 'directory') throw notDirectoryError('exec', found.path)
    return found.path
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    throw rewriteError(error, {
      operation: 'exec',
      path: error.path ?? cwd,
      remedy: 'give a directory of the workspace as `cwd`',
    })
  }
}

function request(
  { normalised: command, cwd, narrowed: options, bare, cache }: Admitted<NormalisedCommand>,
  timeout: number | undefined,
): Omit<CommandRequest, 'stdin' | 'onOutput'> {
  const shell = options.shell?.trim() === '' ? undefined : options.shell
  return {
    command: command.line,
    cwd,
    env: options.env ?? {},
    cache,
    shell: shell ?? command.shell,
    login: bare ? false : (options.login ?? command.login ?? true),
    bare,
    timeout,
    killGrace: options.killGrace ?? defaultKillGrace,
    maxOutputBytes: options.maxOutputBytes ?? defaultOutputBytes,
    limits: options.limits,
    signal: options.signal,
  }
}

/** An option that the method could not do anything with. */
function useless(operation: string, reason: string, remedy: string): Error {
  return virtualError({ code: 'EINVAL', operation, reason, remedy })
}

/** Real programs need a directory of this machine at every mount. */
function noExecutorError({ context }: CommandDoor): Error {
  const real = context.mounts.every(({ adapter, scratch }) => scratch || adapter?.hostPath !== undefined)
  return virtualError({
    code: 'ENOEXECUTOR',
    operation: 'exec',
    reason: 'the workspace was made without executors',
    remedy: `pass \`executors: [${real ? 'createBubblewrapExecutor' : 'createVirtualExecutor'}()]\` to \`createWorkspace\``,
  })
}
