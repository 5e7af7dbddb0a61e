import type { RuleViolation, WorkspaceError } from '@ws/core'
import { listingLost, protectionLost, sandboxKilled, shortages } from '@ws/core/executor'
import type { CommandEnd, CommandPort, KnownEnd } from '@ws/sandbox'

import { unreadableCaller } from '../hide/hide.ts'
import type { CommandNetwork } from '../network/named-network.ts'
import type { MountWatch } from './mount-check.ts'
import type { Sandbox } from './sandbox.ts'

export interface SandboxEnd extends CommandEnd {
  readonly exposure?: Awaited<ReturnType<MountWatch['end']>>['lost'] | undefined
  /** True if a listing of the root could not be filtered. */
  readonly isUnlisted: boolean
  /** True if the process that hides names was killed: listings may have contained these names. */
  readonly isTracerKilled: boolean
}

/** @param release releases reserved names; may be called more than once */
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
    // The keeper checks the mounts a last time before it releases anything.
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

/** The error for a command without a process. The error occurs inside the sandbox, where the command's limits also apply. */
export function noProcess(): WorkspaceError {
  const reason = 'there are as many processes and threads as the command or its user may have'
  const remedy = 'end processes that are no longer needed, or raise the limit (`processes`, `ulimit -u`, `pids.max`)'
  const native = Object.assign(new Error('the first process could not fork'), { code: 'EAGAIN', syscall: 'fork' })
  return shortages.refusal({ code: 'EIO', reason, remedy }, { native })
}
