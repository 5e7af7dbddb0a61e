import { WorkspaceError } from '@ws/core'
import type { StartedCommand, Terminal, TerminalRequest, TerminalResult } from '@ws/core/executor'
import { constants } from 'node:os'
import type { TerminalDevice } from './start.ts'

export interface FollowTerminalOptions {
  readonly request: TerminalRequest
  readonly device: TerminalDevice
  /** Starts what {@link terminalCommand} made, without a timeout: that is for here. */
  readonly start: () => Promise<StartedCommand>
}

/** Starts a command on a terminal and follows both; its tree is hung up on first. @throws what `start` throws */
export async function followTerminal({ request, device, start }: FollowTerminalOptions): Promise<Terminal> {
  let running: StartedCommand
  try {
    running = await start()
  } catch (error) {
    await device[Symbol.asyncDispose]()
    throw error
  }
  device.releaseDescriptor()
  const sent = new Set<string>()
  let timedOut = false
  let grace: NodeJS.Timeout | undefined
  const politely = () => {
    sent.add('SIGHUP')
    device.signal('SIGHUP')
    grace ??= setTimeout(() => running.kill('SIGKILL'), request.killGrace)
  }
  const onTimeout = () => {
    timedOut = request.signal?.aborted !== true
    politely()
  }
  const timer = request.timeout === undefined ? undefined : setTimeout(onTimeout, request.timeout)
  request.signal?.addEventListener('abort', politely, { once: true })

  async function follow(): Promise<TerminalResult> {
    try {
      const { exitCode, signal, stderr, survivors, violations } = await running.wait()
      if (exitCode === 125 && /^no terminal: \w+ \d+$/m.test(stderr)) throw notLed(stderr)
      const named = signal ?? nameOf(exitCode, sent)
      return {
        exitCode: named === null ? exitCode : null,
        signal: named,
        timedOut,
        ...(survivors && { survivors }),
        ...(violations && { violations }),
      }
    } finally {
      clearTimeout(timer)
      clearTimeout(grace)
      request.signal?.removeEventListener('abort', politely)
      await device.finish()
    }
  }

  const result = follow()
  result.catch(() => undefined)
  const marked = request.login && request.command !== undefined
  return {
    output: device.output,
    get commandOffset() {
      return marked ? device.startOffset : 0
    },
    write: (data) => device.write(data),
    resize: (columns, rows) => device.resize(columns, rows),
    kill(signal = 'SIGHUP') {
      if (signal === 'SIGKILL') return running.kill('SIGKILL')
      sent.add(signal)
      return device.signal(signal)
    },
    get survivors() {
      return running.survivors === true
    },
    wait: () => result,
    async [Symbol.asyncDispose]() {
      running.kill('SIGKILL')
      await result.catch(() => undefined)
    },
  }
}

/** A shell reports a signal as 128 and a number. It counts as a signal where one was sent from here. */
function nameOf(exitCode: number | null, sent: ReadonlySet<string>): string | null {
  if (exitCode === null) return null
  return [...sent].find((name) => constants.signals[name as NodeJS.Signals] === exitCode - 128) ?? null
}

function notLed(native: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ENOEXEC',
    operation: 'openSession',
    reason: 'the terminal could not be made the session’s own; the command was not run',
    remedy: 'try again; if it stays, tell the operator',
    native: new Error(native.trim()),
  })
}
