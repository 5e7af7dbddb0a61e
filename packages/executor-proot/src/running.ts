import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

import type { WorkspaceError } from '@ws/core'
import {
  type CommandRequest,
  execError,
  type ExecutorResult,
  type KillSignal,
  sandboxKilled,
  shortageIn,
  shortageNamed,
  shortError,
  type StartedCommand,
} from '@ws/core/executor'
import { type CommandOutputs, readFurtherOutput, listProcesses, type ProcessStat, sendSignal } from '@ws/process'
import type { ProcessResult, RunningProcess } from '@ws/process'

import { errorDescriptor, parseReport, reportDescriptor } from './first-process.ts'

export interface FollowOptions {
  readonly request: CommandRequest
  readonly process: RunningProcess
  readonly output: CommandOutputs
  /** Removes what was made for the command. */
  readonly cleanUp: () => Promise<void>
}

/** The first process and proot itself write at most this many bytes before a command runs. */
const longestReport = 4096
/** Milliseconds that proot gets to end by itself, which it does where nothing is left: that is faster than killing a tree. */
const leavingTime = 10
/** Milliseconds to wait for the rest of a report whose writers are gone. */
const reportTimeout = 1_000

/** Follows a started command to its end. */
export function followCommand(options: FollowOptions): StartedCommand {
  const { request, process, output } = options
  let timer: NodeJS.Timeout | undefined
  let signalled = false
  const report = readReport(process)
  report.onEnding(() => {
    // On timeout and abort the rest of the tree has its grace; otherwise it ends with the command.
    const timeIsUp = request.timeout !== undefined && performance.now() - startedAt >= request.timeout
    if (!timeIsUp && request.signal?.aborted !== true) timer = setTimeout(() => process.kill('SIGKILL'), leavingTime)
  })
  const startedAt = performance.now()
  const errorsRead = readFurtherOutput(process.pipes.get(errorDescriptor), output.onStderr, process.ended)
  const result = finish()
  result.catch(() => undefined)

  async function finish(): Promise<ExecutorResult> {
    try {
      const ended = await process.wait()
      await Promise.all([report.closed, errorsRead])
      return describe(ended)
    } finally {
      clearTimeout(timer)
      output.end()
      const cleaned = options.cleanUp()
      // A remaining process may keep the directory for as long as it waits itself.
      if (!process.outOfReach.aborted) await cleaned
    }
  }

  function describe(ended: ProcessResult): ExecutorResult {
    const { ending } = report.parsed()
    if (!ended.timedOut && ending === undefined) {
      const failure = startFailure(report.parsed(), ended, request)
      if (failure !== undefined) throw failure
    }
    const { exitCode, signal } = ending ?? { exitCode: null, signal: null }
    const result = {
      exitCode,
      signal: exitCode !== null ? null : signal !== null ? signalName(signal) : (ended.signal ?? 'SIGKILL'),
      ...output.end(),
      timedOut: ended.timedOut,
      duration: ended.duration,
      executor: 'proot',
      ...(ended.survivors && { survivors: true as const }),
    }
    if (ending !== undefined || ended.timedOut || signalled) return result
    throw sandboxKilled(result)
  }

  return {
    ...output.readers,
    kill(signal: KillSignal = 'SIGTERM') {
      if (process.pid === undefined || report.parsed().ending !== undefined) return false
      signalled = true
      return signal === 'SIGKILL' ? process.kill('SIGKILL') : signalGroup(process.pid, signal)
    },
    get survivors() {
      return process.survivors
    },
    wait: () => result,
    async [Symbol.asyncDispose]() {
      signalled = true
      process.kill('SIGKILL')
      await result.catch(() => undefined)
    },
  }
}

function readReport(process: RunningProcess) {
  const pipe = process.pipes.get(reportDescriptor)
  let text = ''
  let listener: (() => void) | undefined
  pipe?.setEncoding('latin1')
  pipe?.on('data', (chunk: string) => {
    text = (text + chunk).slice(0, longestReport)
    if (parseReport(text).ending !== undefined) listener?.()
  })
  const closed =
    pipe === undefined
      ? Promise.resolve()
      : Promise.race([once(pipe, 'end'), once(pipe, 'close')]).then(
          () => undefined,
          () => undefined,
        )
  return {
    parsed: () => parseReport(text),
    onEnding(call: () => void) {
      listener = call
    },
    get closed() {
      return Promise.race([closed, delay(reportTimeout, undefined, { ref: false })]).then(() => pipe?.destroy())
    },
  }
}

function startFailure(
  { started, failure }: ReturnType<typeof parseReport>,
  ended: ProcessResult,
  request: CommandRequest,
): WorkspaceError | undefined {
  if (failure?.step === 'cwd') {
    return execError('ENOEXEC', `cannot be entered by commands (${errnoName(failure.errno)})`, {
      path: request.cwd,
      remedy: 'give a directory of the workspace that the policy lets commands enter',
    })
  }
  if (failure !== undefined) {
    const name = errnoName(failure.errno)
    const native = Object.assign(new Error(`the first process failed at ${failure.step}`), { code: name })
    const shortage = shortageNamed(name)
    if (shortage !== undefined) return shortError(shortage, { native })
    return execError('ENOEXEC', `the shell could not be started (${name})`, {
      remedy: 'tell the operator of this machine',
      native,
    })
  }
  if (started || ended.signal !== null) return undefined
  const shortage = shortageIn(ended.stderr.text)
  if (shortage !== undefined) return shortError(shortage, { native: new Error(ended.stderr.text) })
  return execError('ENOEXEC', 'proot could not start the command', {
    remedy: 'ask the executor’s probe what is missing',
    native: new Error(ended.stderr.text),
  })
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`
}

function errnoName(number: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === number)?.[0] ?? `errno ${number}`
}

/**
 * Sends a signal to the command's process group, but not to proot in it, which takes some signals for orders of its
 * own: SIGQUIT ends everything, SIGUSR1 prints its memory.
 *
 * @param root the process that was started: a supervisor or a namespace's parent
 * @returns false if no process got it
 */
function signalGroup(root: number, signal: NodeJS.Signals): boolean {
  const entries = listProcesses()
  const tracer = findTracer(entries, root)
  if (tracer === undefined) return false
  const members = entries.filter(({ pid, group, name }) => group === tracer.group && pid !== root && name !== 'proot')
  return members.map(({ pid }) => sendSignal(pid, signal)).some(Boolean)
}

function findTracer(entries: readonly ProcessStat[], root: number): ProcessStat | undefined {
  const below = new Set([root])
  for (let size = 0; size !== below.size; ) {
    size = below.size
    for (const { pid, parent } of entries) if (below.has(parent)) below.add(pid)
  }
  return entries.find(({ pid, name }) => name === 'proot' && below.has(pid))
}
