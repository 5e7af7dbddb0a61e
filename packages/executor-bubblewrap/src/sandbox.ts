import type { Owner } from '@ws/core/adapter'
import { execError } from '@ws/core/executor'
import {
  collect,
  type CommandRun,
  type PipeMaker,
  readFurtherOutput,
  type RunningProcess,
  startProcess,
  takePipes,
  withPipes,
} from '@ws/sandbox'
import type { CommandGroup, NameKeeper } from '@ws/sandbox'

import { type SandboxCommand, sandboxArguments } from './arguments.ts'
import { startError } from './failure.ts'
import { endSandbox, identify } from './first-child.ts'
import { descriptors, readReport } from './first-process.ts'
import { letGo, type Sandbox } from './port.ts'
import { mountCheck, type MountWatch, watchMounts } from './mount-check.ts'
import type { CommandNetwork } from './network/named-network.ts'
import { orderOptions } from './order.ts'
import type { WarmPool } from './warm/pool.ts'
import { startWarm } from './warm/start.ts'
import type { Warden } from './warden.ts'

export interface SandboxStart {
  readonly command: SandboxCommand
  readonly owner: Owner
  readonly warden: Warden
  /** Watches the mounts, where something is protected. */
  readonly keeper: () => NameKeeper
  /** Absent: standard streams are sockets, which cannot be opened by name. */
  readonly pipes?: PipeMaker | undefined
  /** Absent: every command starts cold. */
  readonly warm?: WarmPool | undefined
  readonly hasInput?: boolean | undefined
  readonly onStdout?: CommandRun['onStdout'] | undefined
  readonly onStderr?: CommandRun['onStderr'] | undefined
  /** Opens the network of the sandbox, where that is not empty or the host's: its command waits for it. */
  readonly network?: Pick<CommandNetwork, 'open'> | undefined
  /** Default `cover`. */
  readonly onExposure?: 'cover' | 'end' | undefined
  readonly signal?: AbortSignal | undefined
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
  const warm = start.warm && (await startWarm(start.warm, start))
  if (warm !== undefined) return warm
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
  const wanted = ['stdout', 'stderr', 'arguments', ...(start.hasInput === true ? ['stdin'] : [])]
  const pipes = await takePipes(start.pipes, wanted.length, owner)
  const [stdoutPipe, stderrPipe, argumentsPipe, stdinPipe] = pipes
  const { argv, options, extraFds, close } = withPipes(pipes, () => {
    start.signal?.throwIfAborted()
    const prepared = sandboxArguments({ ...command, layout: command.split?.early ?? command.layout })
    if (stderrPipe) prepared.extraFds.set(descriptors.commandError, stderrPipe)
    return prepared
  })
  const order = orderOptions(options, argumentsPipe, extraFds)
  const asOwner = process.getuid?.() === 0 ? owner : {}
  let running: RunningProcess
  let watch: MountWatch | undefined
  let started: (() => void) | undefined
  try {
    running = startProcess({
      argv,
      extraFds,
      stdinPipe,
      stdoutPipe,
      ...asOwner,
      stdin: start.hasInput === true ? 'pipe' : 'none',
      drainGrace: 0,
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
    // Not before it is ready: until it runs a program, the kernel may keep its namespaces from its own user.
    const opened = Promise.all([known, ready]).then(([child]) => start.network?.open(child, owner))
    opened.catch(() => undefined)
    // Looked up while bubblewrap is at work.
    const check = mountCheck(command)
    const outcome = await Promise.race([Promise.all([known, ready, opened]), ended, stopped])
    if (outcome === 'stopped') throw await abandon(running, start.signal)
    if (outcome === 'ended') throw startError((await running.wait()).stderr.text)
    const [child] = outcome
    const { layout } = command
    const late = new Set(command.split?.late)
    const startWatch = () =>
      layout.placements.some(({ beneath }) => beneath !== undefined)
        ? watchMounts({ ...start, keeper: start.keeper(), child, layout, late, end: () => endSandbox(running, child) })
        : undefined
    if (late.size > 0) {
      watch = startWatch()
      if ((await Promise.race([watch?.covered(), stopped])) === 'stopped') throw await abandon(running, start.signal)
    }
    check(child)
    watch ??= startWatch()
    return { ...letGo(running, report, child, layout.mode), errorsRead, watch }
  } catch (error) {
    running.kill('SIGKILL')
    await running.wait().catch(() => undefined)
    await watch?.end()
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

function childOf(status: string): number {
  return Number(/"child-pid"\s*:\s*(\d+)/.exec(status)?.[1] ?? 0)
}

function once(signal: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'), { once: true }))
}
