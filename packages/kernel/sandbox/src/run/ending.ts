import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { findMembers, findTree, isAlive, killTree, type SeenProcess, sendSignal, StuckWatch } from './tree/end.ts'
import { findProcess } from './tree/stat.ts'
import type { StartProcessOptions } from './types.ts'

const defaultKillGrace = 500
/** Milliseconds after the grace until this process itself kills a supervisor's tree. */
const supervisorSlackMs = 3000
/** The signal that orders a supervisor to kill all processes at once. */
const killOrder = constants.signals.SIGPWR
const pollMs = 10
/** Milliseconds between SIGKILL and the first check for survivors. */
const patienceMs = 150
const lookAgainMs = 50
/** Maximum milliseconds to wait for a killed process, even if it still works. */
const longestPatienceMs = 5_000
/** A shared reason for aborts: without a reason, Node creates an exception with a stack for each abort. */
const uninterruptible = new Error('no signal ends it')

export interface Ender {
  /** Aborted if no signal ends the remaining tree. The run then no longer waits for the tree. */
  readonly outOfReach: AbortSignal
  /** Returns whether a process still lives that no signal could end. */
  hasSurvivors(): boolean
  wasAsked(): boolean
  /** Call this after another process has sent the last signal. */
  expectEnd(): void
  /** Sends TERM to all processes, and KILL after the grace. */
  end(): void
  /** Sends KILL to all processes. */
  endNow(): void
  /** Waits up to `drainGrace` until the streams close, then kills the rest. `closed`: true if the streams are closed, or a promise. */
  finish(closed: Promise<unknown> | boolean, drainGrace: number): Promise<void>
  stop(): void
}

export function createEnder(child: ChildProcess, options: StartProcessOptions): Ender {
  const { pid } = child
  const graceMs = options.killGrace ?? defaultKillGrace
  const supervised = options.status?.supervised === true
  let seen: SeenProcess[] = []
  let deadline: number | undefined
  let timer: NodeJS.Timeout | undefined
  let killed: SeenProcess[] = []
  let look: NodeJS.Timeout | undefined
  let lookAt = Number.POSITIVE_INFINITY
  let finished = false
  let asked = false
  let left: SeenProcess[] = []
  const stuck = new StuckWatch()
  const outOfReach = new AbortController()

  function killAll() {
    if (pid === undefined) return
    killed = killTree(pid, [...seen, ...killed])
    expectEnd()
  }

  /** @param after milliseconds until the last signal */
  function expectEnd(after = 0) {
    const at = performance.now() + after + patienceMs
    if (at >= lookAt) return
    lookAt = at
    clearTimeout(look)
    look = setTimeout(lookAround, after + patienceMs, at + longestPatienceMs)
  }

  function lookAround(latest: number) {
    if (pid === undefined || finished) return
    const main = findProcess(pid)
    const members = [...(main === undefined || hasEnded(child) ? [] : [main]), ...findMembers(pid), ...killed]
    if (!stuck.look(members) && performance.now() < latest) {
      look = setTimeout(lookAround, lookAgainMs, latest)
      return
    }
    clearTimeout(timer)
    left = members
    // Kills the tree a last time. Then callers stop waiting for survivors.
    killTree(pid, killed)
    outOfReach.abort(uninterruptible)
  }

  return {
    outOfReach: outOfReach.signal,

    hasSurvivors: () => left.some(isAlive),

    wasAsked: () => asked,

    expectEnd: () => expectEnd(),

    end() {
      asked = true
      if (pid === undefined || deadline !== undefined) return
      deadline = performance.now() + graceMs
      timer = setTimeout(killAll, supervised ? graceMs + supervisorSlackMs : graceMs)
      if (supervised) {
        sendSignal(pid, 'SIGTERM')
        expectEnd(graceMs)
        return
      }
      // Finds descendants while their parents live: later, a daemon cannot be recognised.
      seen = findTree(pid)
      sendSignal(-pid, 'SIGTERM')
      for (const member of seen) sendSignal(member.pid, 'SIGTERM')
    },

    endNow() {
      asked = true
      if (pid === undefined) return
      deadline ??= performance.now()
      if (!supervised) {
        killAll()
        return
      }
      sendSignal(pid, killOrder)
      expectEnd()
      timer ??= setTimeout(killAll, supervisorSlackMs)
    },

    async finish(closed: Promise<unknown> | boolean, drainGrace: number): Promise<void> {
      clearTimeout(timer)
      const over = Promise.race([closed, whenAborted(outOfReach.signal)])
      const drained = typeof closed === 'boolean' ? closed : await settlesWithin(over, drainGrace)
      while (!outOfReach.signal.aborted && deadline !== undefined && performance.now() < deadline && seen.some(isAlive))
        await delay(pollMs)
      if (pid === undefined || outOfReach.signal.aborted) return
      if (seen.length > 0 || !drained) killAll()
      else sendSignal(-pid, 'SIGKILL')
      // Polls, because no event reports the ends of the killed processes.
      while (!outOfReach.signal.aborted && killed.some(isAlive)) await delay(pollMs)
    },

    stop() {
      finished = true
      clearTimeout(look)
    },
  }
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** Returns false if `ms` milliseconds pass first. */
function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, false)
    promise.then(
      () => {
        clearTimeout(timer)
        resolve(true)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
