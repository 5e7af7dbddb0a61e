import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

import { isWorkspaceError } from '@ws/core'
import { Descriptors, HostPaths, Limits } from '@ws/sandbox'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import { mountCheck, watchMounts } from '../run/mount-check.ts'
import { signalIn } from '../processes/first-process.ts'
import type { Sandbox, SandboxStart } from '../run/sandbox.ts'
import type { Layout } from '../view/layout.ts'
import { encodeOrder, splitForSpare } from './order.ts'
import type { WarmPool } from './pool.ts'
import { followWarm } from './process.ts'
import type { Spare } from './spare.ts'
import type { Supervisor } from './supervisor.ts'
import { afterSilence } from './supervisor-parts.ts'

/** Bytes that an empty pipe accepts at once. */
const pipeBytes = 65_536

/**
 * Starts a command in a waiting sandbox, and compares its mounts with the plan.
 * @returns `undefined` for a cold start, if the command has not begun
 * @throws WorkspaceError `EBUSY` when a source was replaced; `signal.reason`
 */
export async function startWarm(pool: WarmPool, start: SandboxStart): Promise<Sandbox | undefined> {
  const { command, signal } = start
  const { placements } = command.layout
  const split = splitFor(command)
  if (split === undefined) return undefined
  const isChecked = placements.some(({ beneath }) => beneath !== undefined)
  const waits = isChecked || start.network !== undefined
  const order = encodeOrder({
    // The first process counts towards the command's limit of processes.
    argv: Limits.limitedCommand(command.argv, command.limits, { ownProcesses: 1 }),
    env: { ...command.env, PWD: command.cwd },
    cwd: command.cwd,
    hasInput: start.hasInput === true,
    atOnce: !waits,
    covers: split.covers,
    top: split.top,
  })
  if (order === undefined) return undefined
  const supervisor = find(pool, command, split.mounted)
  const spare = supervisor && (await take(pool, supervisor, signal))
  if (supervisor === undefined || spare === undefined) return undefined
  const running = supervisor.follow(spare)
  const end = () => {
    if (signalIn(spare.child, spare.child.pid, 'SIGKILL')) running.expectEnd()
  }
  /** Abandons the warm start. No part of the command has run or will run. */
  const giveUp = () => {
    end()
    spare.close()
    return undefined
  }
  /** @returns false if the sandbox has ended */
  const checkMounts = (compare: () => void) => {
    try {
      compare()
      return true
    } catch (error) {
      if (!isWorkspaceError(error, 'EBUSY')) {
        pool.failed('a sandbox ended before its command')
        return false
      }
      // Removing a mount point outside also removes the supervisor's own mount at this point.
      if (split.top === undefined) pool.retire(supervisor) // @defence a warm sandbox that shows an older tree: removed from outside
      throw error
    }
  }
  try {
    signal?.throwIfAborted()
    const report = Descriptors.collect(new Socket({ fd: spare.take('report'), readable: true, writable: false }))
    const check = isChecked ? mountCheck(command) : undefined
    if (!(await send(spare.order, order, signal))) return giveUp()
    const outcome = await settled(report, signal, pool.patience)
    if (outcome === 'aborted') throw signal?.reason
    if (outcome === 'silent') pool.lose(supervisor)
    if (outcome !== 'ready') pool.failed(`a step failed: ${report.text().trim() || outcome}`)
    if (outcome !== 'ready') return giveUp()
    if (!checkMounts(() => check?.(spare.child))) return giveUp()
    await untilAborted(start.network?.open(spare.child, start.owner), signal)
    const { layout } = command
    const watch = isChecked
      ? watchMounts({ ...start, keeper: start.keeper(), child: spare.child, layout, end })
      : undefined
    if (waits && !write(spare.order, Buffer.from('g'))) return giveUp()
    report.stream?.once('close', running.expectEnd) // @defence a supervisor of warm commands that dies: that does not answer
    return {
      ...followWarm({ pool, supervisor, spare, running, end, start, hides: command.direct !== undefined }),
      watch,
    }
  } catch (error) {
    end()
    spare.close()
    throw error
  }
}

/** Starts the supervisor that a command like this would use next. Does not wait for the supervisor. */
export function launchNext(pool: WarmPool, command: SandboxCommand): void {
  const split = splitFor(command)
  if (split !== undefined) find(pool, command, split.mounted)
}

/** Returns `undefined` for a command that can only start cold. */
function splitFor({ extraFds, cgroup, layout }: SandboxCommand): ReturnType<typeof splitForSpare> {
  if (extraFds.size > 0 || cgroup !== undefined) return undefined
  const split = splitForSpare(layout)
  const sources = layout.placements.flatMap(({ source }) => (source === undefined ? [] : [source]))
  // On a slow mount, a command could hang in the kernel, and block other commands of the supervisor.
  return split === undefined || HostPaths.isOnSlowMount(sources) ? undefined : split
}

/** Returns `undefined` on an error, such as too few descriptors: the cold start reports the error with a remedy. */
function find(pool: WarmPool, command: SandboxCommand, kept: Layout): Supervisor | undefined {
  try {
    return pool.find(command, kept)
  } catch {
    pool.failed('the sandbox that makes others could not be started')
    return undefined
  }
}

async function take(
  pool: WarmPool,
  supervisor: Supervisor,
  signal: AbortSignal | undefined,
): Promise<Spare | undefined> {
  const taken = supervisor.take()
  try {
    return await untilAborted(taken, signal)
  } catch (error) {
    if (signal?.aborted) {
      // an unused spare that arrives late is closed, and a missing spare needs no action
      void taken.then((late) => late.close()).catch(() => undefined)
      throw error
    }
    if (supervisor.isLost) pool.lose(supervisor)
    else pool.failed('no further sandbox could be made')
    return undefined
  }
}

/** @throws `signal.reason`; the caller must release a value that arrives late */
export async function untilAborted<T>(value: T | PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const settled = await Promise.race([value, aborted.promise])
    signal?.throwIfAborted()
    return settled
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Sends content that may be larger than the pipe, while the spare reads. @returns like `write` */
async function send(fd: number, content: Buffer, signal: AbortSignal | undefined): Promise<boolean> {
  if (content.length <= pipeBytes) return write(fd, content)
  for (let at = 0, idle = 0; at < content.length; ) {
    signal?.throwIfAborted()
    try {
      at += writeSync(fd, content, at)
      idle = 0
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || ++idle > 5000) return false
      await delay(1)
    }
  }
  return true
}

/** @returns false for a partial write: the spare then reads the end of file, and ends */
function write(fd: number, content: Buffer): boolean {
  try {
    return writeSync(fd, content) === content.length
  } catch {
    return false
  }
}

async function settled(
  report: ReturnType<typeof Descriptors.collect>,
  signal: AbortSignal | undefined,
  patience: number,
): Promise<'ready' | 'failed' | 'silent' | 'aborted'> {
  const { promise, resolve } = Promise.withResolvers<'ready' | 'failed' | 'silent' | 'aborted'>()
  const timer = afterSilence(patience, () => resolve('silent'))
  const onAbort = () => resolve('aborted')
  signal?.addEventListener('abort', onAbort, { once: true })
  report.stream?.once('close', () => resolve(/^ready$/m.test(report.text()) ? 'ready' : 'failed'))
  void report
    .until((text) => /^(?:ready|fail .*)\n/m.test(text))
    .then(() => {
      resolve(report.text().startsWith('ready\n') ? 'ready' : 'failed')
    })
  try {
    return await promise
  } finally {
    clearInterval(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
