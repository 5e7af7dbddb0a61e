import { execError } from '@ws/core/executor'
import { Descriptors, type Limits, type RunningProcess, startProcess } from '@ws/sandbox'

import { sandboxArguments } from '../bwrap/arguments.ts'
import { startError } from '../bwrap/failure.ts'
import {
  type Child,
  descriptors,
  endSandbox,
  type FirstProcessReport,
  identify,
  isAlive,
  readReport,
  signalIn,
} from '../processes/first-process.ts'
import { checkNotShared } from '../processes/held-network.ts'
import { mountCheck, type MountWatch, watchMounts } from '../run/mount-check.ts'
import type { Sandbox, SandboxStart } from '../run/sandbox.ts'
import type { LayoutMode } from '../view/layout.ts'
import type { WarmPool } from '../warm/pool.ts'
import { startWarm } from '../warm/start.ts'
import { optionPipe } from './option-pipe.ts'

/** Milliseconds for building a sandbox. A longer start is treated as stuck. */
const startTimeout = 20_000
/** Limit of bytes kept from bubblewrap's own output. */
const longestError = 4096

/**
 * Builds a sandbox, compares its mounts with the plan, then lets the command run. @param warm default: a cold start
 * @throws WorkspaceError `EBUSY` when a source was exchanged, `ENOEXEC` when building fails, `EUNENFORCEABLE` when the control group does
 * not hold the limits; `signal.reason`
 */
export async function startSandbox(start: SandboxStart, warm?: WarmPool): Promise<Sandbox> {
  const { cgroup, limits, layout } = start.command
  start.signal?.throwIfAborted()
  const sandbox = warm && (await startWarm(warm, start))
  if (sandbox !== undefined) return sandbox
  if (cgroup === undefined) return await startIn(undefined, start)
  const group = cgroup.make(limits, { ownProcesses: layout.mode === 'below' ? 2 : 3 })
  try {
    const sandbox = await startIn(group, start)
    return { ...sandbox, gone: sandbox.gone.then(group.end, group.end) }
  } catch (error) {
    await group.end()
    throw error
  }
}

async function startIn(group: Limits.CommandGroup | undefined, start: SandboxStart): Promise<Sandbox> {
  const { command, owner } = start
  const wanted = ['stdout', 'stderr', 'arguments', ...(start.hasInput === true ? ['stdin'] : [])]
  const pipes = await Descriptors.takePipes(start.pipes, wanted.length, owner)
  const [stdoutPipe, stderrPipe, argumentsPipe, stdinPipe] = pipes
  const { argv, options, extraFds, close } = Descriptors.withPipes(pipes, () => {
    start.signal?.throwIfAborted()
    const prepared = sandboxArguments({ ...command, layout: command.split?.mounted ?? command.layout })
    if (stderrPipe) prepared.extraFds.set(descriptors.commandError, stderrPipe)
    return prepared
  })
  const pipe = optionPipe(options, argumentsPipe, extraFds)
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
        // Recorded before bubblewrap has all its options, and therefore before bubblewrap has a child.
        started = start.guard.starting(pid)
        group?.join(pid)
        pipe.complete()
      },
    })
  } catch (error) {
    started?.()
    throw error
  } finally {
    pipe.close()
    close()
  }
  pipe.send(running)
  // The process that hides names waits for this line: that process must join the group together with bubblewrap.
  if (command.direct !== undefined) running.pipes.get(descriptors.status)?.write('\n')
  const status = Descriptors.collect(running.pipes.get(descriptors.status))
  const report = Descriptors.collect(running.pipes.get(descriptors.report))
  const onStderr = start.onStderr ?? (() => undefined)
  const errorsRead = Descriptors.readFurtherOutput(running.pipes.get(descriptors.commandError), onStderr, running.ended)
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
    // Only when the child is ready: before a child runs a program, the kernel may hide the child's namespaces from the child's own user.
    const opened = Promise.all([known, ready]).then(([child]) => start.network?.open(child, owner))
    opened.catch(() => undefined)
    // Find the expected mounts while bubblewrap works.
    const check = mountCheck(command)
    const outcome = await Promise.race([Promise.all([known, ready, opened]), ended, stopped])
    if (outcome === 'stopped') throw await abandon(running, start.signal)
    if (outcome === 'ended') throw startError((await running.wait()).stderr.text)
    const [child] = outcome
    const { layout } = command
    const late = new Set(command.split?.covers)
    const startWatch = () =>
      layout.placements.some(({ beneath }) => beneath !== undefined)
        ? watchMounts({ ...start, keeper: start.keeper(), child, layout, late, end: () => endSandbox(running, child) })
        : undefined
    // @defence more protected parts than bubblewrap can mount: cover more than bubblewrap could mount
    if (late.size > 0) {
      watch = startWatch()
      if ((await Promise.race([watch?.covered(), stopped])) === 'stopped') throw await abandon(running, start.signal)
    }
    check(child) // @defence a bind's source or destination exchanged during the start
    // @defence would start in the network of this machine: a sandbox there is refused
    if (command.network !== 'host') checkNotShared(child)
    watch ??= startWatch()
    return { ...followCold(running, report, child, layout.mode), errorsRead, watch }
  } catch (error) {
    running.kill('SIGKILL')
    await running.wait().catch(() => undefined) // the first failure is reported
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
  await running.wait().catch(() => undefined) // the caller reports the reason for the kill
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

/** Lets the command of a finished sandbox run, and watches its end. */
function followCold(
  running: RunningProcess,
  report: Descriptors.Collected,
  first: Child,
  mode: LayoutMode,
): Omit<Sandbox, 'errorsRead' | 'watch'> {
  const { pid: child } = first
  const isChild = () => isAlive(first)
  const send = (pid: number, signal: NodeJS.Signals) => signalIn(first, pid, signal)
  const end = () => endSandbox(running, first)
  const exitCode = () => readReport(report.text()).exitCode
  report.stream?.write('go\n')
  // If the first process is process 1, the command's other processes end with it. proot would wait for these, so the sandbox is killed.
  if (mode === 'translated') void report.until((text) => hasEnded(readReport(text))).then(() => send(child, 'SIGKILL'))
  // bubblewrap ends last, unless it is killed. After an early kill, its child survives, and only this process can end the child.
  const lookAfter = async () => {
    send(child, 'SIGKILL')
    await waitUntil(() => !isChild())
  }
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

/** Polls a condition, for a killed bubblewrap: otherwise bubblewrap ends after all processes in the sandbox. */
async function waitUntil(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
}
