import type { ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { type Duplex, Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { isWorkspaceError, WorkspaceError } from '@ws/core'
import { shortages } from '@ws/core/executor'

import { sendSignal } from './tree/end.ts'
import { isPipePair } from './pipe-maker.ts'
import { readPipe, takeRest } from './read-output.ts'
import { spawnChild } from './spawn.ts'
import { closePipes, openStdio, type StdioSlot } from './stdio.ts'
import type { RunningProcess, StartProcessOptions, ProcessInput } from './types.ts'
import { validateStart } from './validate.ts'
import { type ProcessWatch, watchProcess } from './watch.ts'

/**
 * Starts a process in its own session and group, and watches its tree to the end. Call this from the main thread.
 *
 * On timeout, on abort and after the main process, kills the group and every descendant that can be found. A daemon that left its session
 * and parents escapes, unless a supervisor (`confineArgv({ supervise: true })`) or a PID namespace contains it.
 *
 * @throws WorkspaceError `EINVAL`; `signal.reason` if already aborted. {@link RunningProcess.wait} rejects after a failed start.
 */
export function startProcess(options: StartProcessOptions): RunningProcess {
  const startedAt = performance.now()
  let child: ChildProcess
  try {
    validateStart(options)
    options.signal?.throwIfAborted()
    child = start(options)
  } catch (error) {
    closePipes(options, 'all')
    if (options.status !== undefined) closeSync(options.status.fd)
    throw error
  }
  tellStarted(child, options)
  closePipes(options, 'child')
  const streams = openStreams(child, options)
  const watch = watchProcess({ child, stdout: streams.stdout }, options, startedAt)
  // Destroys the stream of the given pipe: Node destroys only its own streams.
  if (options.stdinPipe) watch.ended.addEventListener('abort', () => streams.stdin?.destroy(), { once: true })
  if (streams.stdin && options.stdin !== 'pipe') feedInput(streams.stdin, options.stdin, watch.ended)
  return runningProcess(child, streams, options, watch)
}

function tellStarted(child: ChildProcess, options: StartProcessOptions): void {
  if (child.pid === undefined) return
  try {
    options.onStarted?.(child.pid)
  } catch (error) {
    sendSignal(-child.pid, 'SIGKILL')
    closePipes(options, 'all')
    if (options.status !== undefined) closeSync(options.status.fd)
    throw error
  }
}

interface Streams {
  readonly stdin: Writable | null
  readonly stdout: Readable | null
}

/** Opens the given pipes as streams. Without pipes, returns the child's streams. */
function openStreams(child: ChildProcess, { stdinPipe, stdoutPipe, output }: StartProcessOptions): Streams {
  // In this mode the caller keeps the chunks, so they cannot be in shared memory.
  const read = output === 'stream' ? (fd: number) => new Socket({ fd, readable: true, writable: false }) : readPipe
  return {
    stdin: stdinPipe ? new Socket({ fd: stdinPipe.write, readable: false, writable: true }) : child.stdin,
    stdout: stdoutPipe ? read(stdoutPipe.read) : child.stdout,
  }
}

const tooLong = 'its arguments and environment are longer than the kernel allows'

function start(options: StartProcessOptions): ChildProcess {
  try {
    const stdio = openStdio(options)
    try {
      return spawnWith(options, stdio.slots)
    } finally {
      stdio.close()
    }
  } catch (native) {
    throw cannotStart(native, options)
  }
}

function cannotStart(native: unknown, { operation = 'exec' }: StartProcessOptions): unknown {
  if (isWorkspaceError(native)) return native
  const shortage = shortages.of(native)
  if (shortage !== undefined) return shortages.refusal(shortage, { operation, native })
  const isLong = native instanceof Error && 'code' in native && native.code === 'E2BIG'
  return new WorkspaceError({ code: 'ENOEXEC', operation, reason: isLong ? tooLong : 'could not be started', native })
}

function spawnWith(options: StartProcessOptions, slots: StdioSlot[]): ChildProcess {
  const [program = '', ...rest] = options.argv
  return spawnChild(program, rest, {
    // Without this name, Node adds NODE_V8_COVERAGE. Node also reads the prototype, which is therefore null.
    env: Object.assign(Object.create(null), { NODE_V8_COVERAGE: undefined }, options.env),
    cwd: options.cwd ?? '/',
    detached: true,
    stdio: slots,
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  })
}

function runningProcess(
  child: ChildProcess,
  streams: Streams,
  options: StartProcessOptions,
  { result, ended, outOfReach, end, endNow, expectEnd, hasSurvivors }: ProcessWatch,
): RunningProcess {
  const streaming = options.output === 'stream'
  const pipes = new Map<number, Duplex>()
  for (const [fd, source] of options.extraFds ?? []) {
    const stream = source === 'pipe' ? child.stdio[fd] : isPipePair(source) ? readPipe(source.read) : undefined
    if (stream) pipes.set(fd, ignoreClosedPipe(stream as Duplex))
  }
  // Destroys the pipes, since processes at their other ends may never close them.
  if (options.drainGrace === 0)
    ended.addEventListener('abort', () => pipes.forEach((pipe) => takeRest(pipe)), { once: true })
  outOfReach.addEventListener('abort', () => pipes.forEach((pipe) => pipe.destroy()), { once: true })
  const stdin: Writable | undefined =
    options.stdin === 'pipe' && streams.stdin ? ignoreClosedPipe(streams.stdin) : undefined
  return {
    pid: child.pid,
    stdin,
    stdout: streaming ? (streams.stdout ?? undefined) : undefined,
    stderr: streaming ? ((child.stderr ?? undefined) as Readable | undefined) : undefined,
    pipes,
    ended,
    outOfReach,
    askToEnd: end,
    expectEnd,
    get survivors() {
      return hasSurvivors()
    },
    kill(signal = 'SIGTERM') {
      if (child.pid === undefined || ended.aborted) return false
      if (signal === 'SIGKILL') {
        endNow()
        return true
      }
      return sendSignal(options.status?.supervised ? child.pid : -child.pid, signal)
    },
    wait: () => result,
    async [Symbol.asyncDispose]() {
      if (child.pid !== undefined && !ended.aborted) endNow()
      await result.catch(() => undefined) // callers that await the end get the error
    },
  }
}

/** Ignores write errors: a process may close its input, or end, before it has read all input. */
function ignoreClosedPipe<T extends Writable>(stream: T): T {
  stream.on('error', () => undefined)
  return stream
}

/** Writes the input of a process. Closes the source of the input if the process ends first. */
function feedInput(stdin: Writable, input: ProcessInput | undefined, ended: AbortSignal): void {
  ignoreClosedPipe(stdin)
  if (typeof input === 'string' || input instanceof Uint8Array) {
    stdin.end(input)
    return
  }
  if (typeof input !== 'object') return
  // A failed source ends the input early. The process decides how to handle that.
  pipeline(Readable.from(input), stdin, { signal: ended }).catch(() => stdin.destroy())
}
