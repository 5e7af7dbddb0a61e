import { WorkspaceError } from '@ws/core'
import { shortages } from '@ws/core/executor'
import type { ChildProcess } from 'node:child_process'
import { closeSync, existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { errnoName, type LoaderReport, readReport } from './status.ts'
import { createEnder, type Ender, whenAborted } from './ending.ts'
import { takeRest, whenSettled } from './read-output.ts'
import { captureOutput, type OutputCapture } from './command-output.ts'
import type { OutputListener, ProcessResult, StartProcessOptions } from './types.ts'

const defaultMaxOutputBytes = 2 ** 20
const defaultDrainGrace = 250
/** A shared reason for aborts: without a reason, Node creates an exception with a stack for each abort. */
const over = new Error('the process has ended')

export interface ProcessWatch {
  /** The result. Its rejection counts as handled. */
  readonly result: Promise<ProcessResult>
  readonly ended: AbortSignal
  /** Aborted when the run stops waiting for the tree, since no signal ends it. */
  readonly outOfReach: AbortSignal
  readonly end: () => void
  readonly endNow: () => void
  readonly expectEnd: () => void
  readonly hasSurvivors: () => boolean
}

export interface WatchedChild {
  readonly child: ChildProcess
  /** The child's standard output. Can be another stream than `child.stdout`. */
  readonly stdout: Readable | null
}

export function watchProcess(
  { child, stdout }: WatchedChild,
  options: StartProcessOptions,
  startedAt: number,
): ProcessWatch {
  const ended = new AbortController()
  const ender = createEnder(child, options)
  const result = follow({ child, stdout }, options, startedAt, ender, ended)
  result.catch(() => undefined) // callers that await the end get the error
  return { ...ender, result, ended: ended.signal }
}

async function follow(
  { child, stdout: output }: WatchedChild,
  options: StartProcessOptions,
  startedAt: number,
  ender: Ender,
  ended: AbortController,
): Promise<ProcessResult> {
  const { signal, timeout, maxOutputBytes = defaultMaxOutputBytes, drainGrace = defaultDrainGrace } = options
  const stdout = captureOutput({ maxBytes: maxOutputBytes })
  const stderr = captureOutput({ maxBytes: maxOutputBytes })
  const closed = Promise.all([
    readStream(output, options, { capture: stdout, listener: options.onStdout, ended: ended.signal }),
    readStream(child.stderr, options, { capture: stderr, listener: options.onStderr, ended: ended.signal }),
  ])
  const takeRests = () => [output, child.stderr].map(takeRest).every(Boolean)
  let timedOut = false
  let aborted = false
  const onAbort = () => {
    aborted = true
    ender.end()
  }
  const onTimeout = () => {
    timedOut = !aborted
    ender.end()
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  const timer = timeout === undefined ? undefined : setTimeout(onTimeout, timeout)
  let exit: { code: number | null; signal: NodeJS.Signals | null }
  let report: LoaderReport | undefined
  try {
    const givenUp = whenAborted(ender.outOfReach).then(() => ({ code: null, signal: 'SIGKILL' as const }))
    exit = await Promise.race([exited(child, options), givenUp])
  } finally {
    clearTimeout(timer)
    ended.abort(over)
    signal?.removeEventListener('abort', onAbort)
    if (options.status !== undefined) {
      report = readReport(options.status.fd)
      closeSync(options.status.fd)
    }
  }
  const duration = performance.now() - startedAt
  const isTaken = options.output !== 'stream' && drainGrace === 0 ? takeRests() : undefined
  await ender.finish(isTaken ?? closed, drainGrace)
  ender.stop()
  if (options.output !== 'stream') takeRests()
  if (report?.failure !== undefined) throw notConfined(report.failure, options)
  if (aborted && !timedOut) throw signal?.reason
  const isUnstarted = report?.ready === false && exit.signal === null && !timedOut
  // A command that was killed before its start has not failed.
  const isKilled = isUnstarted && ender.wasAsked()
  if (isUnstarted && !isKilled) throw loaderFailed(options, stderr.result().text)
  return {
    exitCode: isKilled || report?.signal !== undefined ? null : (report?.exitCode ?? exit.code),
    signal: isKilled ? 'SIGKILL' : (report?.signal ?? (report?.exitCode === undefined ? exit.signal : null)),
    timedOut,
    stdout: stdout.result(),
    stderr: stderr.result(),
    duration,
    survivors: report?.survivors === true || ender.outOfReach.aborted,
  }
}

function exited(child: ChildProcess, options: StartProcessOptions) {
  return new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.once('error', (native) => {
      if (child.pid === undefined) reject(notStarted(native, options))
    })
  })
}

interface Reading {
  readonly capture: OutputCapture
  readonly listener: OutputListener | undefined
  /** After its abort, listeners are not awaited: the remaining output fits into the kernel's buffers. */
  readonly ended: AbortSignal
}

function readStream(
  stream: Readable | null,
  options: StartProcessOptions,
  { capture, listener, ended }: Reading,
): Promise<void> {
  if (stream === null) return Promise.resolve()
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.on('error', () => undefined) // `close` follows a read error
    if (options.output === 'stream') return
    stream.on('data', (chunk: Buffer) => {
      capture.push(chunk)
      const pending = listener?.(chunk)
      if (!(pending instanceof Promise) || ended.aborted) return
      stream.pause()
      whenSettled(pending, ended, () => void stream.resume())
    })
  })
}

function notStarted(native: Error, options: StartProcessOptions): WorkspaceError {
  const { operation = 'exec' } = options
  const shortage = shortages.of(native)
  if (shortage !== undefined) return shortages.refusal(shortage, { operation, native })
  const code = 'code' in native ? String(native.code) : 'unknown'
  const reason =
    code === 'ENOENT' && !existsSync(options.cwd ?? '/')
      ? 'the working directory is missing'
      : code === 'ENOENT'
        ? 'the program is missing'
        : `the program could not be started (${code})`
  return new WorkspaceError({ code: 'ENOEXEC', operation, reason, native })
}

function loaderFailed({ operation = 'exec' }: StartProcessOptions, said: string): WorkspaceError {
  const native = new Error(said.trim() || 'the loader ended without a word')
  const shortage = shortages.of(native)
  if (shortage !== undefined) return shortages.refusal(shortage, { operation, native })
  const reason = 'the command was not run, since its loader ended before it was confined'
  const remedy = 'run it again; if it comes back, look whether this machine has memory and processes left'
  return new WorkspaceError({ code: 'ENOEXEC', operation, reason, remedy, native })
}

function notConfined({ step, errno }: { step: string; errno: number }, options: StartProcessOptions): WorkspaceError {
  const { operation = 'exec' } = options
  const name = errnoName(errno)
  const shortage = shortages.named(name)
  const native = Object.assign(new Error(`the step ${step} failed (${name})`), { code: name })
  if (shortage !== undefined) return shortages.refusal(shortage, { operation, native })
  const reason =
    step === 'exec'
      ? name === 'ENOENT'
        ? 'the program is missing'
        : `the program could not be started (${name})`
      : `the command was not run, since confinement failed at the step \`${step}\` (${name})`
  return new WorkspaceError({ code: 'ENOEXEC', operation, reason, native })
}
