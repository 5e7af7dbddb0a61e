import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { findTree, isAlive, killTree, type SeenProcess, sendSignal } from '../tree/end.ts'
import type { StartProcessOptions } from './types.ts'
import type { ReadingProgress } from './watch.ts'

const defaultKillGraceMs = 500
/** Milliseconds that a supervisor gets beyond the grace before its tree is killed from here. */
const supervisorSlackMs = 3000
/** A supervisor's order to kill everything at once; nothing else sends it. */
const killOrder = constants.signals.SIGPWR
const pollMs = 10

/** Ends the tree of a child: politely, then for certain. */
export function createEnder(child: ChildProcess, options: StartProcessOptions) {
  const { pid } = child
  const graceMs = options.killGraceMs ?? defaultKillGraceMs
  const supervised = options.status?.supervised === true
  let seen: SeenProcess[] = []
  let deadline: number | undefined
  let timer: NodeJS.Timeout | undefined

  function killAll() {
    if (pid !== undefined) killTree(pid, seen)
  }

  return {
    /** TERM to everyone, KILL after the grace. */
    end() {
      if (pid === undefined || deadline !== undefined) return
      deadline = performance.now() + graceMs
      timer = setTimeout(killAll, supervised ? graceMs + supervisorSlackMs : graceMs)
      if (supervised) {
        sendSignal(pid, 'SIGTERM')
        return
      }
      // Seen now, while their parents live: afterwards a daemon cannot be told from a stranger.
      seen = findTree(pid)
      sendSignal(-pid, 'SIGTERM')
      for (const member of seen) sendSignal(member.pid, 'SIGTERM')
    },

    /** KILL to everyone. */
    endNow() {
      if (pid === undefined) return
      deadline ??= performance.now()
      if (!supervised) {
        killAll()
        return
      }
      sendSignal(pid, killOrder)
      timer ??= setTimeout(killAll, supervisorSlackMs)
    },

    /**
     * After the main process has ended: waits until its streams are closed, at most `drainMs`; then kills what is left.
     * What is being ended gets the rest of its grace.
     */
    async finish(closed: Promise<unknown>, progress: ReadingProgress, drainMs: number): Promise<void> {
      clearTimeout(timer)
      const drained = await settlesWithin(closed, drainMs)
      while (deadline !== undefined && performance.now() < deadline && seen.some(isAlive)) await delay(pollMs)
      if (pid === undefined) return
      if (seen.length > 0 || !drained) killAll()
      else sendSignal(-pid, 'SIGKILL')
      if (options.output === 'stream' || drained) return
      // No writer is left, so the streams end as soon as they are read. One that stays open is held by someone out of reach.
      do {
        if (await settlesWithin(closed, drainMs)) return
      } while (progress.pending > 0 || performance.now() - progress.last < drainMs)
    },
  }
}

/** @returns false when `ms` milliseconds pass before */
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
