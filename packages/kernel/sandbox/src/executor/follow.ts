import { constants } from 'node:os'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { isWorkspaceError, type WorkspaceError } from '@ws/core'
import {
  type CommandRequest,
  execError,
  type ExecutorResult,
  type KillSignal,
  sandboxKilled,
  shortages,
  type StartedCommand,
} from '@ws/core/executor'

import type { CommandOutputs } from '../run/command-output.ts'
import type { TerminalDevice } from '../terminal/start.ts'
import type { CommandDriver, CommandEnd, CommandPort, PreparedCommand } from './driver.ts'
import { isLocal, type OwnTerminal } from './own-terminal.ts'

/** Milliseconds until the remaining processes of an ended command are killed. */
const leavingTime = 10
const defaultPatience = 10_000

export interface FollowOptions {
  readonly name: string
  readonly driver: CommandDriver
  readonly request: CommandRequest
  readonly port: CommandPort
  readonly prepared: PreparedCommand
  readonly output: CommandOutputs
  readonly terminal?: TerminalDevice | OwnTerminal | undefined
  readonly startedAt: number
}

/** Follows a started command to its end, and releases it. */
export function followCommand(options: FollowOptions): StartedCommand {
  const { name, driver, request, port, prepared, output, terminal, startedAt } = options
  const killer = createKiller(options)
  feed(port.stdin, request.stdin, killer.exited)

  async function follow(): Promise<ExecutorResult> {
    let end: CommandEnd | undefined
    try {
      end = checkedEnd(await killer.untilGivenUp(port.exited))
      if (end.survivors !== true) end = { ...end, survivors: await killer.survivors() }
      output.end()
      await releaseAll(end)
      return describe(end)
    } catch (error) {
      throw error === request.signal?.reason ? error : driverError(error, () => brokenDriver(name, error))
    } finally {
      killer.finish()
      output.end()
      await releaseAll(end)
      await terminal?.finish()
    }
  }

  async function releaseAll(end: CommandEnd | undefined): Promise<void> {
    const released = prepared.release?.()
    // A survivor waits for a dead file system, and the release could wait for the same file system.
    if (end?.survivors === true || port.survivors === true) void released?.catch(() => undefined)
    else await released
  }

  function describe(end: CommandEnd): ExecutorResult {
    const { timedOut, aborted, sent } = killer.state()
    if (aborted && !timedOut) throw request.signal?.reason
    if (output.isLate()) throw new Error('output came after the end')
    const outcome = outcomeOf(end, sent, isLocal(terminal))
    // A shell that was told to end may have reported a part of its state.
    const shellState = timedOut || outcome.signal !== null ? undefined : (end.shellState ?? output.shellState?.())
    const result = {
      ...outcome,
      ...output.end(),
      timedOut,
      duration: Math.round(performance.now() - startedAt),
      executor: name,
      ...(end.survivors === true && { survivors: true as const }),
      ...((end.violations?.length ?? 0) > 0 && { violations: end.violations }),
      ...(shellState && { shellState }),
    }
    if (end.lost !== true && end.unstarted !== true) return result
    const failure = driver.explainFailure?.(end, { result, request, sent })
    if (failure !== undefined) throw failure
    if (sent.size === 0) throw end.unstarted === true ? notStarted(name) : sandboxKilled(result)
    return result
  }

  const result = follow()
  result.catch(() => undefined) // callers that await the end get the error
  return {
    ...output.readers,
    kill: (signal = 'SIGTERM') => killer.kill(signal),
    get survivors() {
      return port.survivors === true || killer.state().isUnknown
    },
    wait: () => result,
    async [Symbol.asyncDispose]() {
      killer.kill('SIGKILL')
      await result.catch(() => undefined) // callers that await the end get the error
    },
  }
}

function createKiller({ driver, request, port, terminal }: FollowOptions) {
  const { timeout, signal: abort, killGrace } = request
  const sent = new Set<string>()
  const exited = new AbortController()
  const givenUp = Promise.withResolvers<undefined>()
  let [timedOut, aborted, finished, isUnknown] = [false, false, false, false]
  let [grace, last, leaving]: (NodeJS.Timeout | undefined)[] = []
  const end = () => {
    last ??= setTimeout(givenUp.resolve, driver.patience ?? defaultPatience, undefined)
    port.end()
  }
  const send = (signal: KillSignal, whom: 'command' | 'everyone'): boolean => {
    sent.add(signal)
    if (signal !== 'SIGKILL') return terminal ? terminal.signal(signal) : port.signal(signal, whom)
    end()
    return true
  }
  const politely = () => {
    // If the signal reaches no process, SIGKILL follows at once.
    const isHeard = exited.signal.aborted || send(terminal ? 'SIGHUP' : 'SIGTERM', 'everyone') || isLocal(terminal)
    clearTimeout(leaving)
    grace ??= setTimeout(send, isHeard ? killGrace : 0, 'SIGKILL', 'everyone')
  }
  const onTimeout = () => {
    timedOut = !aborted
    politely()
  }
  const onAbort = () => {
    aborted = true
    politely()
  }
  const timer = timeout === undefined ? undefined : setTimeout(onTimeout, timeout)
  abort?.addEventListener('abort', onAbort, { once: true })
  if (abort?.aborted === true) onAbort()
  return {
    kill(signal: KillSignal): boolean {
      if (!exited.signal.aborted) return send(signal, 'command')
      if (!finished && signal === 'SIGKILL') end()
      return false
    },
    exited: exited.signal,
    /** Awaits `value`. `undefined`: the driver reported no end after the last signal. */
    async untilGivenUp<Value>(value: Promise<Value>): Promise<Value | undefined> {
      const settled = await Promise.race([value, givenUp.promise])
      isUnknown = settled === undefined
      void value.catch(() => undefined).then(() => (isUnknown = false)) // the caller awaits `value` itself
      exited.abort(over)
      return settled
    },
    /** Waits until no process remains. Kills the rest after 10 ms, or after the grace of a timeout or abort. Returns whether any remain. */
    async survivors(): Promise<boolean> {
      if (port.gone === undefined) return false
      if (grace === undefined) leaving = setTimeout(end, leavingTime)
      const survivors = port.gone.then((gone) => gone?.survivors === true)
      return await Promise.race([survivors, givenUp.promise.then(() => true)])
    },
    finish() {
      finished = true
      exited.abort(over)
      for (const one of [timer, grace, last, leaving]) clearTimeout(one)
      abort?.removeEventListener('abort', onAbort)
    },
    /** `isUnknown`: true if the command may still run. */
    state: () => ({ timedOut, aborted, sent, isUnknown }),
  }
}

/** A shared reason for aborts: without a reason, Node creates an exception with a stack for each abort. */
const over = new Error('the command has ended')

function outcomeOf(
  { status, shellStatus, signal }: CommandEnd,
  sent: ReadonlySet<string>,
  isOnTerminal: boolean,
): Pick<ExecutorResult, 'exitCode' | 'signal'> {
  const exitCode = status ?? shellStatus
  if (exitCode === undefined) return { exitCode: null, signal: signal ?? 'SIGKILL' }
  // The leader of a terminal's session reports a status as a shell does.
  const isShell = isOnTerminal || status === undefined
  const named = [...sent].find((one) => isShell && constants.signals[one as NodeJS.Signals] === exitCode - 128)
  return named === undefined ? { exitCode, signal: null } : { exitCode: null, signal: named }
}

/** Writes the input. Starts to read a source only when the command runs, and closes the source at the command's end. */
function feed(target: Writable | undefined, input: CommandRequest['stdin'], exited: AbortSignal): void {
  if (target === undefined || input === undefined) return
  // A command may close its input, or end, before it has read all input.
  target.on('error', () => undefined)
  if (typeof input === 'string' || input instanceof Uint8Array) target.end(input)
  else pipeline(Readable.from(input), target, { signal: exited }).catch(() => target.destroy())
}

/** Throws if a driver reports no end, or an invalid end. */
function checkedEnd(end: CommandEnd | undefined): CommandEnd {
  const code = end?.status ?? end?.shellStatus
  const isNamed = typeof end?.signal === 'string' || end?.lost === true || end?.unstarted === true
  if (end !== undefined && (code === undefined ? isNamed : Number.isInteger(code) && code >= 0 && code <= 255))
    return end
  throw new Error(
    end === undefined ? 'no end after the last signal' : `an end without a meaning: ${JSON.stringify(end)}`,
  )
}

export function notStarted(name: string, native?: unknown): WorkspaceError {
  const details = { remedy: 'ask the executor’s probe what is missing', native }
  return execError('ENOEXEC', `the executor ${name} did not start the command`, details)
}

function brokenDriver(name: string, native: unknown): WorkspaceError {
  return execError('EIO', `the executor ${name} does not say how the command ended; its changes so far stay`, {
    remedy: 'look at what it left; if it comes back, tell the author of the executor',
    native,
  })
}

/** Returns a driver's error for callers: a known error unchanged, else a shortage or a fault of the driver. */
export function driverError(error: unknown, faultOf: () => WorkspaceError): WorkspaceError {
  if (isWorkspaceError(error)) return error
  const shortage = shortages.of(error)
  return shortage === undefined ? faultOf() : shortages.refusal(shortage, { native: error })
}
