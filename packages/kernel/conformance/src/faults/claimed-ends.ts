import { setTimeout as delay } from 'node:timers/promises'

import type { AttachedExecutor, ExecutorResult, StartedCommand } from '@ws/core/executor'
import { changeExecutor, changeRunning, type ExecutorFault } from './executor-fault.ts'

type Spawn = AttachedExecutor['spawn']

function ended(running: StartedCommand, how: Pick<ExecutorResult, 'signal' | 'timedOut'>): ExecutorResult {
  return { ...running.output(), ...how, exitCode: null, duration: 0, executor: 'broken' }
}

const byTimeout =
  (spawn: Spawn): Spawn =>
  async (request, plan) => {
    const running = await spawn({ ...request, timeout: undefined }, plan)
    const claimed = delay(request.timeout).then(() => ended(running, { signal: 'SIGKILL', timedOut: true }))
    return changeRunning(running, {
      wait: () => Promise.race([running.wait(), claimed]),
      [Symbol.asyncDispose]: async () => undefined, // the workspace releases ended commands
    })
  }

const byAbort =
  (spawn: Spawn): Spawn =>
  async ({ signal, ...request }, plan) => {
    const running = await spawn(request, plan)
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => undefined) // callers that await `promise` get the error
    signal?.addEventListener('abort', () => reject(signal.reason))
    return changeRunning(running, {
      wait: () => Promise.race([running.wait(), promise]),
      kill: (name) => !signal?.aborted && running.kill(name),
    })
  }

const byKill =
  (spawn: Spawn): Spawn =>
  async (request, plan) => {
    const running = await spawn(request, plan)
    const { promise, resolve } = Promise.withResolvers<ExecutorResult>()
    let isKilled = false
    return changeRunning(running, {
      kill(signal = 'SIGTERM') {
        if (isKilled) return false
        isKilled = true
        resolve(ended(running, { signal, timedOut: false }))
        return true
      },
      wait: () => Promise.race([running.wait(), promise]),
    })
  }

const byScope =
  (spawn: Spawn): Spawn =>
  async (request, plan) =>
    changeRunning(await spawn(request, plan), { [Symbol.asyncDispose]: async () => undefined })

/** Executors that report a command's end while the command still runs. */
export const claimedEnds: readonly ExecutorFault[] = (
  [
    ['its timeout', 'a timeout ends the command and says so', byTimeout],
    ['an abort', 'an abort rejects with its reason, after the command has ended', byAbort],
    ['a kill', 'kill ends the command with that signal, and is false when it has ended', byKill],
    ['the end of its scope', 'leaving the scope of a running command ends it', byScope],
  ] as const
).map(([what, caughtBy, claim]) => ({
  name: `says that ${what} has ended a command, and lets it run`,
  caughtBy,
  apply: (inner) => changeExecutor(inner, { attached: ({ spawn }) => ({ spawn: claim(spawn) }) }),
}))
