import { isWorkspaceError, WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import {
  type AttachedExecutor,
  type BindPlan,
  type CommandRequest,
  execError,
  type Guarantees,
  type StartedCommand,
  type Terminal,
  type TerminalRequest,
} from '@ws/core/executor'

import { createCommandOutput } from '../run/command-output.ts'
import { plainRequest } from '../terminal/request.ts'
import { startTerminal, type TerminalDevice } from '../terminal/start.ts'
import type { CommandDriver, CommandPort, CommandRun, PreparedCommand } from './driver.ts'
import { driverError, followCommand, notStarted } from './follow.ts'
import { keepShell } from './shell-state/keep.ts'
import { createOwnTerminal, isLocal, type OwnTerminal } from './own-terminal.ts'
import { type LocalCommand, startLocal } from './start-local.ts'

const attempts = 6
/** Milliseconds within which a driver must start a command. */
const startTimeout = 30_000

export interface AttachDriverOptions {
  readonly name: string
  readonly guarantees: Guarantees
  readonly owner: Owner
  readonly driver: CommandDriver
}

export function attachDriver({ name, guarantees, owner, driver }: AttachDriverOptions): AttachedExecutor {
  const work = new HeldWork()

  /** @param stop no command starts after its abort */
  async function run(
    request: CommandRequest,
    plan: BindPlan,
    { stop, terminal }: { readonly stop: AbortSignal; readonly terminal?: TerminalDevice | OwnTerminal },
  ): Promise<StartedCommand> {
    const output = createCommandOutput(request)
    const kept = request.shellState === undefined ? undefined : keepShell(request.shellState, output)
    const { onStdout, onStderr } = kept?.output ?? output
    const stoppable = { ...request, signal: stop, inState: kept?.inState }
    const own = terminal === undefined || isLocal(terminal) ? undefined : terminal
    const hasInput = own !== undefined || request.stdin !== undefined
    const listeners = own
      ? { onStdout: own.onOutput, onStderr: own.onOutput, terminal: own.size }
      : { onStdout, onStderr }
    const run = { request: stoppable, hasInput, ...listeners }
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          const prepared = await driver.prepare(plan, stoppable, isLocal(terminal) ? terminal : undefined)
          const startedAt = performance.now()
          const port = await startOnce(prepared, run)
          own?.bind(port)
          return followCommand({
            name,
            driver,
            request,
            port,
            prepared,
            output: kept?.output ?? output,
            terminal,
            startedAt,
          })
        } catch (error) {
          if (attempt === attempts || stop.aborted || !isWorkspaceError(error, 'EBUSY')) throw error
        }
      }
    } catch (error) {
      throw stop.aborted && error === stop.reason ? error : driverError(error, () => notStarted(name, error))
    }
  }

  /** Starts a command, or releases it if the start fails. A command that starts too late is released when the driver answers. */
  async function startOnce(prepared: PreparedCommand, run: CommandRun): Promise<CommandPort> {
    const starting = (async () => {
      try {
        return driver.start ? await driver.start(prepared, run) : startLocal(prepared as LocalCommand, run)
      } catch (error) {
        await prepared.release?.()
        throw error
      } finally {
        prepared.close?.()
      }
    })()
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.reject(new Error(`no start after ${startTimeout} ms`))
      starting
        .then((port) => {
          port.end()
          return prepared.release?.()
        })
        .catch(() => undefined) // `late` already reports the late or failed start
    }, startTimeout)
    try {
      return await Promise.race([starting, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  async function openTerminal(request: TerminalRequest, plan: BindPlan, stop: AbortSignal): Promise<Terminal> {
    const { columns, rows, timeout } = request
    const size = { columns, rows }
    const isOwn = driver.hasTerminals === 'own'
    const device = isOwn ? createOwnTerminal(size) : await startTerminal({ ...size, owner, signal: stop })
    let running: StartedCommand
    try {
      running = await run({ ...plainRequest(request, device), timeout }, plan, { stop, terminal: device })
    } catch (error) {
      await device[Symbol.asyncDispose]()
      throw error
    }
    device.releaseDescriptor()
    const result = running.wait().then(({ exitCode, signal, timedOut, survivors, violations, stderr }) => {
      if (exitCode === 125 && /^no terminal: \w+ \d+$/m.test(stderr)) throw notLed(stderr)
      return { exitCode, signal, timedOut, ...(survivors && { survivors }), ...(violations && { violations }) }
    })
    result.catch(() => undefined) // callers that await the end get the error
    const marked = request.login && request.command !== undefined
    return {
      output: device.output,
      get commandOffset() {
        return marked ? device.startOffset : 0
      },
      write: (data) => device.write(data),
      resize: (columns, rows) => device.resize(columns, rows),
      kill: (signal = 'SIGHUP') => running.kill(signal),
      get survivors() {
        return running.survivors === true
      },
      wait: () => result,
      [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
    }
  }

  return {
    guarantees,
    ...driver.facts,
    spawn: (request, plan) => work.hold((stop) => run(request, plan, { stop }), request.signal),
    ...((driver.hasTerminals ?? false) !== false && {
      openTerminal: (request, plan) => work.hold((stop) => openTerminal(request, plan, stop), request.signal),
    }),
    async close() {
      try {
        await work.end()
      } finally {
        await driver.close?.()
      }
    },
  }
}

function notLed(native: string): WorkspaceError {
  return execError('ENOEXEC', 'the terminal could not be made the session’s own; the command was not run', {
    remedy: 'try again; if it stays, tell the operator',
    native: new Error(native.trim()),
  })
}

/** Milliseconds within which an aborted start must end. */
const patienceMs = 1_000

export class HeldWork {
  readonly #running = new Set<StartedCommand | Terminal>()
  /** Ended work whose remaining processes no signal can end. */
  readonly #outlived = new Set<StartedCommand | Terminal>()
  readonly #starting = new Set<Promise<unknown>>()
  readonly #stop = new AbortController()

  /** Is aborted with `ECLOSED` when no further work may start. */
  get stopped(): AbortSignal {
    return this.#stop.signal
  }

  /**
   * Starts a command or a terminal, and lists it until its end. `start` must not start a process after an abort of its signal.
   * @throws WorkspaceError `ECLOSED` after {@link HeldWork.end}; `signal.reason`
   */
  async hold<Work extends StartedCommand | Terminal>(
    start: (signal: AbortSignal) => Promise<Work>,
    signal?: AbortSignal,
  ): Promise<Work> {
    this.#stop.signal.throwIfAborted()
    signal?.throwIfAborted()
    const starting = start(signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]))
    this.#starting.add(starting)
    try {
      const running = await starting
      this.#running.add(running)
      const forget = () => {
        this.#running.delete(running)
        if (running.survivors === true) this.#outlived.add(running)
      }
      running.wait().then(forget, forget)
      if (!this.#stop.signal.aborted) return running
      await running[Symbol.asyncDispose]()
      throw closedError()
    } finally {
      this.#starting.delete(starting)
    }
  }

  /**
   * Prevents further starts, and ends running work. Waits only a limited time for starts in progress.
   * @throws WorkspaceError `ETIMEDOUT` if such a start does not end, or processes remain that no signal ends
   */
  async end(): Promise<void> {
    this.#stop.abort(closedError())
    const starts = Promise.allSettled(this.#starting).then(() => true)
    const { promise: late, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(resolve, patienceMs, false)
    const areStartsOver = await Promise.race([starts, late])
    clearTimeout(timer)
    await Promise.all([...this.#running].map((running) => running[Symbol.asyncDispose]()))
    if (!areStartsOver || [...this.#outlived].some(({ survivors }) => survivors === true)) throw survivorsError()
  }
}

function closedError(): WorkspaceError {
  return new WorkspaceError({ code: 'ECLOSED', operation: 'exec', reason: 'the workspace has been closed' })
}

function survivorsError(): WorkspaceError {
  return new WorkspaceError({
    code: 'ETIMEDOUT',
    operation: 'close',
    reason: 'processes of commands could not be ended: they wait for a file system that does not answer',
    remedy: 'they end when the file system answers, or when the operator removes its mount by force (`umount -f`)',
  })
}
