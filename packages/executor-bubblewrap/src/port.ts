import type { RuleViolation, WorkspaceError } from '@ws/core'
import { listingLost, protectionLost, sandboxKilled, shortError } from '@ws/core/executor'
import type { Collected, CommandEnd, CommandPort, KnownEnd, ProcessResult, RunningProcess } from '@ws/sandbox'

import { type Child, endSandbox, isAlive, signalIn } from './first-child.ts'
import { type FirstProcessReport, readReport } from './first-process.ts'
import { unreadableCaller } from './hide/hide.ts'
import type { LayoutMode } from './layout.ts'
import type { MountWatch } from './mount-check.ts'
import type { CommandNetwork } from './network/named-network.ts'

/** The process that encloses a command. */
export interface SandboxProcess extends Pick<RunningProcess, 'survivors' | 'stdin'> {
  /** Resolves when it has ended and its streams are read. */
  wait(): Promise<Pick<ProcessResult, 'exitCode' | 'signal' | 'survivors'> & Partial<Pick<ProcessResult, 'stderr'>>>
}

/** A sandbox whose command has been let go. */
export interface Sandbox {
  readonly process: SandboxProcess
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

/** Lets the command of a finished sandbox run, and watches its end. */
export function letGo(
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
  // bubblewrap ends after everything inside, unless another process kills it. If that happens before its child has
  // asked to die with it, only this process can end the child.
  const lookAfter = async () => {
    send(child, 'SIGKILL')
    await waitUntil(() => !isChild())
  }
  // With the listing supervisor around it, bubblewrap's own end is not known.
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

/** Only where bubblewrap was killed itself: else its end comes after everything inside has ended. */
async function waitUntil(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
}

export interface SandboxEnd extends CommandEnd {
  /** A cover that was lost, or the watch over covers itself. */
  readonly exposure?: Awaited<ReturnType<MountWatch['end']>>['lost'] | undefined
  /** A listing of the root could not be answered. */
  readonly isUnlisted: boolean
  /** The process that hides names did not end by itself: listings may have been wrong. */
  readonly isTracerKilled: boolean
}

/** @param release lets go of the names that were held; it may be called again */
export function portOf(
  sandbox: Sandbox,
  { network, release }: { readonly network: CommandNetwork | undefined; readonly release: () => Promise<void> },
): CommandPort {
  return {
    stdin: sandbox.process.stdin,
    signal: (name) => sandbox.signal(name),
    end: () => sandbox.end(),
    exited: follow(),
    get survivors() {
      return sandbox.process.survivors
    },
  }

  async function follow(): Promise<SandboxEnd> {
    const ended = await sandbox.process.wait()
    if (!ended.survivors) await sandbox.gone
    await network?.close()
    // The keeper looks a last time before it lets go of what it is asked to after that.
    const released = ended.survivors ? undefined : release()
    const [{ lost: exposure, exposed = [] } = {}] = await Promise.all([
      sandbox.watch?.end(),
      sandbox.errorsRead,
      released,
    ])
    const known: { violations?: readonly RuleViolation[] | undefined } = { violations: exposed }
    const { violations } = network?.addRefusedTo(known) ?? known
    const shellStatus = sandbox.exitCode()
    const isUnlisted = sandbox.hides && ended.exitCode === unreadableCaller
    const isTracerKilled = sandbox.hides && (ended.signal !== null || ended.exitCode !== 0)
    return {
      shellStatus,
      signal: ended.signal ?? undefined,
      lost: shellStatus === undefined || exposure !== undefined || isTracerKilled,
      unstarted: sandbox.unstarted(),
      survivors: ended.survivors,
      violations,
      exposure,
      isUnlisted,
      isTracerKilled,
    }
  }
}

export function explainFailure(end: SandboxEnd, { result, sent }: KnownEnd): WorkspaceError | undefined {
  if (end.exposure !== undefined) return protectionLost(result, end.exposure.at)
  if (end.isUnlisted) return listingLost(result)
  if (end.unstarted === true) return noProcess()
  return end.isTracerKilled && !sent.has('SIGKILL') ? sandboxKilled(result) : undefined
}

/** Inside the sandbox, where the limits of the command hold too. */
export function noProcess(): WorkspaceError {
  const reason = 'there are as many processes and threads as the command or its user may have'
  const remedy = 'end processes that are no longer needed, or raise the limit (`processes`, `ulimit -u`, `pids.max`)'
  const native = Object.assign(new Error('the first process could not fork'), { code: 'EAGAIN', syscall: 'fork' })
  return shortError({ code: 'EIO', reason, remedy }, { native })
}
