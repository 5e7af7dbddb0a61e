import { mapNotes } from '../adapter/entry-notes.ts'
import type { BeginCommandOptions, EndCommand, EntryNote } from '../contract/file-types.ts'
import { admitCall, parseFor, type Context } from '../calls/context.ts'
import type { LiveCheckpoints } from '../checkpoints/door.ts'
import { isWorkspaceError, rewriteError } from '../errors.ts'
import type { BindPlan } from '../contract/bind-plan.ts'
import type { CommandRequest, RunningCommand } from '../contract/executor.ts'
import { typedError } from '../executor/exec-error.ts'
import { requireLimits } from '../executor/limits.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import { requireNames } from '../mount/mount-points.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { notDirectoryError } from '../mount/walk.ts'
import { joinPath, type VirtualPath } from '../path/virtual-path.ts'
import type { Command, ExecOptions } from '../contract/workspace.ts'
import { acknowledgedBy, narrowCommand } from './command-options.ts'
import { normaliseCommand, quoteForShell, type NormalisedCommand } from './command.ts'
import { checkAcknowledged, planFor, requireEntrance, requireHeld, type ChosenExecutor } from './enforcement.ts'

export interface CommandDoor {
  readonly context: Context
  readonly executor: ChosenExecutor | undefined
  prepare(): Promise<void>
  /** Notifies the adapters that a command begins. Resolves to `undefined` if no adapter must be notified of its end. */
  begin(options: BeginCommandOptions): Promise<EndedCommand | undefined>
  sync(): Promise<void>
  readonly running: Set<RunningCommand>
  /** As in {@link CommandRequest}. */
  readonly files?: CommandRequest['files']
  readonly checkpoints: Pick<LiveCheckpoints, 'before'>
}

export const defaultOutputBytes = 1024 * 1024
export const defaultKillGrace = 2000

/** Maximum attempts to start a command. A missing name that appears during the start causes another attempt. */
const startAttempts = 3

/** Starts a command with its plan. Makes a new plan if a missing name appeared before it was reserved. */
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
  /** Called with the line that the policy sees. Called again when the working directory is known. */
  readonly onAdmitted?: ((line: string, cwd?: VirtualPath) => void) | undefined
  /** Creates no entries on disk. Skips command rules if there is no command. Default false. */
  readonly looksOnly?: boolean | undefined
  readonly background?: boolean | undefined
}

export interface Admitted<Normalised> {
  readonly normalised: Normalised
  readonly cwd: VirtualPath
  readonly plan: BindPlan
  readonly executor: ChosenExecutor
  readonly acknowledged: ReadonlySet<string>
  readonly narrowed: ExecOptions
  readonly cache: VirtualPath | undefined
  /** True if a rule was acknowledged. Files of the workspace must then not influence how the command starts. */
  readonly bare: boolean
  /** Call this when the command has ended, or does not start after all. */
  readonly end?: EndedCommand | undefined
}

/** Starts an admitted command. If the start fails, the adapters learn that the command has ended. */
export async function orEnd<Started>({ end }: Pick<Admitted<unknown>, 'end'>, start: () => Promise<Started>) {
  try {
    return await start()
  } catch (error) {
    await end?.().catch(() => undefined) // the first failure is thrown instead
    throw error
  }
}

/** Runs all checks of a command before its start. For a terminal session, the policy sees the shell, not the typed lines. */
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
  if (context.attempt !== undefined && acknowledged.size > 0) throw notInTry(operation)
  checkAcknowledged(context, acknowledged)
  const { limits: reports } = executor.attached
  requireLimits(options.limits ?? {}, { executor: executor.name, reports, operation })
  const end = looksOnly ? undefined : await door.begin({ signal: options.signal, background })
  return orEnd({ end }, async () => {
    const cwd = await resolveCwd(context, options.cwd)
    onAdmitted?.(judged.line, cwd)
    if (!looksOnly) await door.prepare()
    await requireNames(context.mounts, executor.needs) // @defence commands would see the machine's: once they have appeared
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
      bare: acknowledged.size > 0, // @defence files that earlier commands left: runs nothing that was left
      end,
    }
  })
}

function notInTry(operation: string): Error {
  return virtualError({
    code: 'EINVAL',
    operation,
    reason: '`acknowledge` cannot be given in a try: changes where a rule forbids them could not be shown',
    remedy: 'run the command outside of a try, or without the option',
  })
}

/** Evaluates command rules for the line, even without an executor: the result must not depend on the machine. */
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

export function requestOf(
  { normalised: command, cwd, narrowed: options, bare, cache }: Admitted<NormalisedCommand>,
  timeout: number | undefined,
): Omit<CommandRequest, 'stdin' | 'onOutput'> {
  const shell = options.shell?.trim() === '' ? undefined : options.shell
  return {
    command: command.line,
    cwd,
    env: options.env ?? {},
    cache,
    shellState: options.shellState,
    shell: shell ?? command.shell ?? (options.shellState === undefined ? undefined : 'bash'),
    login: bare ? false : (options.login ?? command.login ?? true),
    bare,
    timeout,
    killGrace: options.killGrace ?? defaultKillGrace,
    maxOutputBytes: options.maxOutputBytes ?? defaultOutputBytes,
    limits: options.limits,
    signal: options.signal,
  }
}

/** Returns the error for a missing executor. Real programs need a host directory at every mount. */
function noExecutorError({ context }: CommandDoor): Error {
  const real = context.mounts.every(({ adapter, scratch }) => scratch || adapter?.hostPath !== undefined)
  return virtualError({
    code: 'ENOEXECUTOR',
    operation: 'exec',
    reason: 'the workspace was made without executors',
    remedy: `pass \`executors: [${real ? 'createBubblewrapExecutor' : 'createVirtualExecutor'}()]\` to \`createWorkspace\``,
  })
}

export type EndedCommand = () => Promise<readonly EntryNote<VirtualPath>[]>

export async function beginCommand(
  mounts: readonly WorkspaceMount[],
  options: BeginCommandOptions,
): Promise<EndedCommand | undefined> {
  const begun: { readonly end: EndCommand; readonly mount: WorkspaceMount }[] = []
  let ended: Promise<EntryNote<VirtualPath>[]> | undefined
  const end = async (): Promise<EntryNote<VirtualPath>[]> => {
    const results = await Promise.allSettled(begun.map((one) => one.end()))
    return results.flatMap((result, index) => {
      const { mount } = begun[index] as (typeof begun)[number]
      if (result.status === 'rejected') throw failureOf(result.reason, mount)
      return mapNotes(result.value, (path) => joinPath(mount.at, path))
    })
  }
  for (const mount of mounts) {
    if (mount.scratch || mount.adapter?.beginCommand === undefined) continue
    try {
      begun.push({ mount, end: await mount.adapter.beginCommand(options) })
    } catch (error) {
      await end().catch(() => undefined) // the first failure is thrown instead
      throw failureOf(error, mount, options.signal)
    }
  }
  return begun.length === 0 ? undefined : () => (ended ??= end())
}

function failureOf(error: unknown, { at }: WorkspaceMount, signal?: AbortSignal): unknown {
  return translateError(error, { operation: 'exec', at, path: at, signal })
}
