import { lstatSync } from 'node:fs'
import type { Duplex } from 'node:stream'

import type { WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { execError, type HostPath } from '@ws/core/executor'
import {
  doubtOwnMounts,
  type OutputListener,
  type PipeMaker,
  type ProcessInput,
  readFurtherOutput,
  readMountInfo,
  type RunningProcess,
  startProcess,
  takePipes,
  withPipes,
  readProcessStat,
} from '@ws/process'
import type { CommandGroup, NameKeeper } from '@ws/sandbox'

import { type SandboxCommand, sandboxArguments } from './arguments.ts'
import { startError } from './failure.ts'
import { descriptors, type FirstProcessReport, readReport } from './first-process.ts'
import type { LayoutMode, Placement } from './layout.ts'
import { findMisplaced } from './mount-table.ts'
import { type MountWatch, watchMounts } from './mount-watch.ts'
import { orderOptions } from './order.ts'
import type { MountedSource } from './sources.ts'
import type { Warden } from './warden.ts'

export interface SandboxStart {
  readonly command: SandboxCommand
  readonly owner: Owner
  readonly warden: Warden
  /** Watches the mounts, where something is protected. */
  readonly keeper: () => NameKeeper
  /** Absent: standard streams are sockets, which cannot be opened by name. */
  readonly pipes?: PipeMaker | undefined
  readonly stdin: ProcessInput
  readonly onStdout?: OutputListener | undefined
  readonly onStderr?: OutputListener | undefined
  readonly signal?: AbortSignal | undefined
}

/** A sandbox whose command has been let go. */
export interface Sandbox {
  readonly process: RunningProcess
  /** Resolves when all of the command's standard error was handed on; that of `process` is bubblewrap's own. */
  readonly errorsRead: Promise<void>
  /** The exit status that the first process reported, once there is one. */
  exitCode(): number | undefined
  /** The command was not started, as there was no process left for it. */
  unstarted(): boolean
  /** Signals the command and what shares its process group. */
  signal(signal: NodeJS.Signals): boolean
  /** Ends everything inside at once. */
  end(): void
  /** Resolves when no process of the sandbox is left. */
  readonly gone: Promise<void>
  readonly watch: MountWatch | undefined
  /** The process is what hides names: only if it ended by itself were all listings right. */
  readonly hides: boolean
}

/** Milliseconds for building a sandbox; on a machine where this takes longer, something is stuck. */
const startTimeout = 20_000
/** Bytes kept of what bubblewrap itself prints. */
const longestError = 4096

/**
 * Builds a sandbox, compares its mounts with the plan, and only then lets the command run.
 *
 * @throws WorkspaceError `EBUSY` when what is bound was exchanged meanwhile, `ENOEXEC` when it cannot be built;
 * `EUNENFORCEABLE` when its control group does not hold its limits; `signal.reason`
 */
export async function startSandbox(start: SandboxStart): Promise<Sandbox> {
  const { cgroup, limits, layout } = start.command
  start.signal?.throwIfAborted()
  if (cgroup === undefined) return await startIn(undefined, start)
  // bubblewrap and the first process are in it as well, and proot or what hides names.
  const group = cgroup.make(limits, { ownProcesses: layout.mode === 'below' ? 2 : 3 })
  try {
    const sandbox = await startIn(group, start)
    return { ...sandbox, gone: sandbox.gone.then(group.end, group.end) }
  } catch (error) {
    await group.end()
    throw error
  }
}

async function startIn(group: CommandGroup | undefined, start: SandboxStart): Promise<Sandbox> {
  const { command, owner } = start
  const wanted = ['stdout', 'stderr', 'arguments', ...(start.stdin === 'none' ? [] : ['stdin'])]
  const pipes = await takePipes(start.pipes, wanted.length, owner)
  const [stdoutPipe, stderrPipe, argumentsPipe, stdinPipe] = pipes
  const { argv, options, extraFds, close } = withPipes(pipes, () => {
    start.signal?.throwIfAborted()
    const prepared = sandboxArguments(command)
    if (stderrPipe) prepared.extraFds.set(descriptors.commandError, stderrPipe)
    return prepared
  })
  const order = orderOptions(options, argumentsPipe, extraFds)
  const asOwner = process.getuid?.() === 0 ? owner : {}
  let running: RunningProcess
  let started: (() => void) | undefined
  try {
    running = startProcess({
      argv,
      extraFds,
      stdinPipe,
      stdoutPipe,
      ...asOwner,
      stdin: start.stdin,
      maxOutputBytes: longestError,
      onStdout: start.onStdout,
      onStarted(pid) {
        // Noted before bubblewrap has all its options, hence before it has a child.
        started = start.warden.starting(pid)
        group?.join(pid)
        order.give()
      },
    })
  } catch (error) {
    started?.()
    throw error
  } finally {
    order.close()
    close()
  }
  order.send(running)
  // The process that hides names waits for this line: bubblewrap must come into the group with it.
  if (command.direct !== undefined) running.pipes.get(descriptors.status)?.write('\n')
  const status = collect(running.pipes.get(descriptors.status))
  const report = collect(running.pipes.get(descriptors.report))
  const onStderr = start.onStderr ?? (() => undefined)
  const errorsRead = readFurtherOutput(running.pipes.get(descriptors.commandError), onStderr, running.ended)
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), startTimeout)
  const onAbort = () => stop.abort()
  start.signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const ended = running.wait().then(
      () => 'ended' as const,
      () => 'ended' as const,
    )
    const stopped = once(stop.signal)
    const known = status.until((text) => childOf(text) > 0).then(() => identify(childOf(status.text())))
    const ready = report.until((text) => readReport(text).ready)
    // Looked up while bubblewrap is at work.
    const check = mountCheck(command)
    const outcome = await Promise.race([Promise.all([known, ready]), ended, stopped])
    if (outcome === 'stopped') throw await abandon(running, start.signal)
    if (outcome === 'ended') throw startError((await running.wait()).stderr.text)
    const [child] = outcome
    check(child)
    const { placements, mode } = command.layout
    const end = () => endSandbox(running, child)
    const needed = placements.some(({ beneath }) => beneath !== undefined)
    const watch = needed ? watchMounts({ keeper: start.keeper(), child, placements, end }) : undefined
    return { ...letGo(running, report, child, mode), errorsRead, watch }
  } catch (error) {
    running.kill('SIGKILL')
    await running.wait().catch(() => undefined)
    throw error
  } finally {
    started?.()
    clearTimeout(timer)
    start.signal?.removeEventListener('abort', onAbort)
  }
}

async function abandon(running: RunningProcess, signal: AbortSignal | undefined): Promise<unknown> {
  running.kill('SIGKILL')
  await running.wait().catch(() => undefined)
  if (signal?.aborted) return signal.reason
  return execError('ENOEXEC', `the sandbox was not ready after ${startTimeout / 1000} s`, {
    remedy: 'look for a file system that does not answer',
  })
}

/**
 * The expected mounts are found beforehand, since the command waits for the comparison. Only bubblewrap and the first process
 * run when it is made, so the mounts stay as they are then.
 */
function mountCheck({ layout, sources, reserved }: SandboxCommand): (child: Child) => void {
  const placements = layout.placements.filter(({ beneath }) => beneath !== undefined)
  if (placements.length === 0) return () => undefined
  const expected = new Map<unknown, MountedSource | undefined>()
  for (const placement of placements)
    if (placement.source !== undefined) expected.set(placement, sources.mounted(placement.source))
  return ({ pid }) => {
    let table: string
    try {
      table = readMountInfo(pid)
    } catch (native) {
      throw execError('ENOEXEC', 'the sandbox cannot be examined', { native })
    }
    const misplaced =
      findMisplaced(table, placements, (placement) => expected.get(placement)) ??
      placements.find(({ beneath = '' as HostPath }) => reserved.has(beneath) && !isStill(beneath, reserved))
    if (misplaced === undefined) return
    // It may have been the host's own mounts that changed.
    doubtOwnMounts()
    throw exchanged(misplaced)
  }
}

/** The name is still that of the directory which was reserved for it. */
function isStill(path: HostPath, reserved: ReadonlyMap<HostPath, string>): boolean {
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return status !== undefined && `${status.dev}:${status.ino}` === reserved.get(path)
}

function exchanged(misplaced: Placement): WorkspaceError {
  return execError('EBUSY', 'was exchanged while the sandbox was being built', {
    path: misplaced.virtual,
    remedy: 'run the command again when nothing changes the workspace',
  })
}

/** Process 1 of the sandbox, told from a later one with the same number. */
interface Child {
  readonly pid: number
  readonly startTime: string | undefined
}

function identify(pid: number): Child {
  return { pid, startTime: startTimeOf(pid) }
}

function isAlive({ pid, startTime }: Child): boolean {
  return startTime !== undefined && startTimeOf(pid) === startTime
}

function signalIn(child: Child, pid: number, signal: NodeJS.Signals): boolean {
  try {
    return isAlive(child) && process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Process 1 of the namespace: the kernel ends all others with it. Without it, bubblewrap's own end does that. */
function endSandbox(running: RunningProcess, child: Child): void {
  if (signalIn(child, child.pid, 'SIGKILL')) running.expectEnd()
  else running.kill('SIGKILL')
}

function letGo(
  running: RunningProcess,
  report: Collected,
  first: Child,
  mode: LayoutMode,
): Omit<Sandbox, 'errorsRead' | 'watch'> {
  const { pid: child } = first
  const isChild = () => isAlive(first)
  const send = (pid: number, signal: NodeJS.Signals) => signalIn(first, pid, signal)
  const end = () => endSandbox(running, first)
  const exitCode = () => readReport(report.text()).exitCode
  report.stream?.write('go\n')
  // Processes that the command left running end with it: with the first process, where that is process 1; else with proot, which
  // would wait.
  if (mode === 'translated') void report.until((text) => hasEnded(readReport(text))).then(() => send(child, 'SIGKILL'))
  // bubblewrap ends after everything inside, unless somebody kills it. If that happens before its child has asked to die
  // with it, nobody but this process can end the child.
  const lookAfter = async () => {
    send(child, 'SIGKILL')
    await waitUntil(() => !isChild())
  }
  // Behind what hides names, bubblewrap's own end is not known.
  const gone = running
    .wait()
    .then(({ signal }) => (signal === null && mode !== 'direct' ? undefined : lookAfter()), lookAfter)
  return {
    process: running,
    exitCode,
    unstarted: () => readReport(report.text()).unstarted,
    signal: (signal) => send(-child, signal),
    end,
    gone,
    hides: mode === 'direct',
  }
}

function hasEnded({ exitCode, unstarted }: FirstProcessReport): boolean {
  return unstarted || exitCode !== undefined
}

function childOf(status: string): number {
  return Number(/"child-pid"\s*:\s*(\d+)/.exec(status)?.[1] ?? 0)
}

/** A zombie counts as gone. */
function startTimeOf(pid: number): string | undefined {
  const found = readProcessStat(pid)
  return found?.zombie === false ? found.startTime : undefined
}

/** Only where bubblewrap was killed itself: else its end comes after everything inside has ended. */
async function waitUntil(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
}

interface Collected {
  readonly stream: Duplex | undefined
  text(): string
  /** Resolves when the text meets a condition; never, when it ends before. */
  until(condition: (text: string) => boolean): Promise<void>
}

function collect(stream: Duplex | undefined): Collected {
  let text = ''
  const checks = new Set<() => void>()
  stream?.setEncoding('utf8')
  stream?.once('end', () => stream.destroy())
  stream?.on('data', (chunk: string) => {
    if (text.length < 65_536) text += chunk
    for (const check of checks) check()
  })
  return {
    stream,
    text: () => text,
    until: (condition) =>
      new Promise((resolve) => {
        const check = () => {
          if (!condition(text)) return
          checks.delete(check)
          resolve()
        }
        checks.add(check)
        check()
      }),
  }
}

function once(signal: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'), { once: true }))
}
