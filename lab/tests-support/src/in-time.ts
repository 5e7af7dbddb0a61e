import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isWorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { watchTurns } from '@ws/test-fixtures'
import { expect } from 'vitest'

/** Limits in milliseconds: for the whole, for one turn of the event loop, and from an abort to its effect. */
const most = { whole: 250, turn: 20, abort: 100 }
/** Limit of attempts: a measurement disturbed by another process, the host or a garbage collection is repeated later. */
const attempts = 20
const pauseMs = 100

export type Attempt = (workspace: Workspace, signal: AbortSignal) => AsyncIterable<unknown> | Promise<unknown>

/** Divisor beside other workers: a thread's time includes turns of other programs. Beside three workers, one took 12 to 64 ms. */
const besideOthers = 4

interface Measured {
  readonly outcome: string
  /** Milliseconds of this thread's processor time, then by the clock. */
  readonly whole: number
  readonly turn: number
  readonly wall: number
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

async function measure(workspace: Workspace, attempt: Attempt, signal: AbortSignal): Promise<Measured> {
  // garbage of other files in this worker must not be collected during the measurement
  collectGarbage()
  const turns = watchTurns()
  await new Promise((resolve) => setImmediate(resolve))
  const [before, start] = [process.threadCpuUsage(), performance.now()]
  const outcome = await outcomeOf(attempt, workspace, signal)
  const { user, system } = process.threadCpuUsage(before)
  const wall = performance.now() - start
  await new Promise((resolve) => setImmediate(resolve))
  turns.stop()
  const slow = isIdle() ? 1 : besideOthers
  return { outcome, whole: (user + system) / 1000 / slow, turn: turns.longest() / slow, wall }
}

async function outcomeOf(attempt: Attempt, workspace: Workspace, signal: AbortSignal): Promise<string> {
  try {
    const result = await attempt(workspace, signal)
    if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return 'done'
    let count = 0
    for await (const _ of result as AsyncIterable<unknown>) count += 1
    return `found ${count}`
  } catch (error) {
    if (error === signal.reason && signal.aborted) return 'aborted'
    if (isWorkspaceError(error) && error.remedy !== undefined) return error.code
    throw error
  }
}

/** The attempt is answered or refused, in time. An excessive bound is exceeded in each attempt. */
export async function holds(workspace: Workspace, attempt: Attempt, what: string): Promise<string> {
  const never = new AbortController().signal
  let measured = await measure(workspace, attempt, never)
  const isLate = (): boolean =>
    measured.whole > most.whole || measured.turn > most.turn || (isIdle() && measured.wall > most.whole)
  for (let left = attempts; left > 0 && isLate(); left -= 1) {
    await delay(pauseMs)
    measured = await measure(workspace, attempt, never)
  }
  const { outcome, whole, turn } = measured
  if (isLate()) expect.fail(`${what}: ${outcome} after ${whole} ms, with a turn of ${turn} ms`)
  expect(outcome, what).toMatch(/^(?:done|found \d+|EINVAL|EACCES|EFBIG|ENAMETOOLONG|EOUTSIDE|ENOENT|ENOEXECUTOR)$/)
  return outcome
}

export async function endsInTime(workspace: Workspace, attempt: Attempt, what: string): Promise<void> {
  let late = 0
  for (let left = attempts; left >= 0; left -= 1) {
    const controller = new AbortController()
    let aborted = Number.POSITIVE_INFINITY
    let before = process.threadCpuUsage()
    const timer = setTimeout(() => {
      aborted = performance.now()
      before = process.threadCpuUsage()
      controller.abort(new Error('enough'))
    }, 15)
    await outcomeOf(attempt, workspace, controller.signal)
    clearTimeout(timer)
    const { user, system } = process.threadCpuUsage(before)
    late = isIdle() ? performance.now() - aborted : (user + system) / 1000
    if (!controller.signal.aborted || late < most.abort) return
  }
  expect.fail(`${what} went on for ${late} ms after its abort`)
}

function isIdle(): boolean {
  return (loadavg()[0] ?? 0) < availableParallelism() / 2
}
