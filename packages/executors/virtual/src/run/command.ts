import { FileError } from '@ws/shell-tools/files'
import type { FileDoor } from '@ws/core'
import { execError, type BindPlan, type KillSignal, shortages, type WorkspaceView } from '@ws/core/executor'
import type { CommandEnd, CommandPort, CommandRun } from '@ws/sandbox'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'

import { leftOutMessage } from '../files/directory.ts'
import { WorkspaceFiles } from '../files/workspace.ts'
import type { VirtualLimits } from '../options.ts'
import type { Done, FileRequest, FromWorker, WorkerCommand, ToWorker } from '../worker/protocol.ts'
import { CommandDownloads, type DownloadOptions } from './downloads.ts'
import { collectInput } from './input.ts'
import { passableDirectories } from './passable.ts'
import type { WorkerPool } from './pool.ts'
import type { Pythons } from './python.ts'
import { answer, answerFetch, answerInput, answerPython } from './serve-files.ts'
import { SoFar } from './so-far.ts'

export interface StartOptions {
  readonly pool: WorkerPool
  readonly files: FileDoor
  readonly topEntries: WorkspaceView['topEntries']
  readonly run: Pick<CommandRun, 'request' | 'onStdout' | 'onStderr'>
  readonly plan: BindPlan
  readonly env: Readonly<Record<string, string>>
  readonly limits: Required<VirtualLimits>
  readonly network: Pick<DownloadOptions, 'create' | 'network'> | undefined
  readonly pythons: Pythons | undefined
}

/** Milliseconds to wait for a store's change after its command has ended: an aborted change could still be applied later. */
const changeGrace = 5_000

type Killed = { readonly killed: KillSignal; readonly stdout?: Uint8Array; readonly stderr?: Uint8Array }
type Ending = Omit<Done, 'type'> | Killed

export function startCommand(options: StartOptions): CommandPort {
  const { limits, network, plan, run } = options
  const { request, onStdout, onStderr } = run
  /** Aborted when the command must stop. Ends the command's thread and file requests. */
  const over = new AbortController()
  const stopping = new AbortController()
  const ended = Promise.withResolvers<Ending>()
  let killedBy: KillSignal | undefined
  let graceTimer: NodeJS.Timeout | undefined

  const end = (): void => {
    killedBy = 'SIGKILL'
    ended.resolve({ killed: 'SIGKILL' })
    over.abort(execError('ECLOSED', 'the command was ended'))
  }
  const downloads =
    network &&
    new CommandDownloads({
      ...network,
      rules: plan.hostRules ?? [],
      maxBytes: limits.maxFileBytes,
      signal: AbortSignal.any([over.signal, stopping.signal]),
      onConnection: request.onConnection,
    })

  async function follow(): Promise<CommandEnd> {
    try {
      const ending = await endingOf()
      if (ending.stdout !== undefined) void onStdout(ending.stdout)
      if (ending.stderr !== undefined) void onStderr(ending.stderr)
      const signal = 'killed' in ending ? ending.killed : killedBy
      const end =
        'killed' in ending || signal !== undefined
          ? { signal }
          : { status: ending.exitCode, shellState: ending.shellState }
      return downloads?.addRefusedTo(end) ?? end
    } finally {
      clearTimeout(graceTimer)
    }
  }

  /** Waits for the end of the command, and then for its downloads, whose refusals are then all known. */
  async function endingOf(): Promise<Ending> {
    try {
      return await interpret(options, { ended, over: over.signal, stopping: stopping.signal, downloads })
    } finally {
      await downloads?.close()
    }
  }

  return {
    signal(name) {
      killedBy ??= name
      stopping.abort()
      // A loop without pauses does not receive the request to stop.
      graceTimer ??= setTimeout(end, request.killGrace)
      return true
    },
    end,
    exited: follow(),
  }
}

interface Control {
  readonly ended: PromiseWithResolvers<Ending>
  readonly over: AbortSignal
  readonly stopping: AbortSignal
  readonly downloads: CommandDownloads | undefined
}

/** Runs the command in a thread. Resolves when the thread and all its file operations have ended. */
async function interpret(options: StartOptions, { ended, over, stopping, downloads }: Control): Promise<Ending> {
  const { pool, files, topEntries, plan, env, limits, pythons } = options
  const { request } = options.run
  const both = AbortSignal.any([over, stopping])
  const collect = () => collectInput(request.stdin, { maxBytes: limits.maxFileBytes, signal: both })
  const streamed =
    request.stdin !== undefined && typeof request.stdin !== 'string' && !(request.stdin instanceof Uint8Array)
  let stdin: WorkerCommand['stdin']
  let worker: Worker
  try {
    stdin = streamed ? 'later' : await collect()
    worker = await pool.acquire(both)
  } catch (error) {
    if (over.aborted) return { killed: 'SIGKILL' }
    if (stopping.aborted) return { killed: 'SIGTERM' }
    if (error instanceof FileError) return failed(1, `standard input is larger than ${limits.maxFileBytes} bytes`)
    throw error
  }
  const { port1: port, port2 } = new MessageChannel()
  const asked = new Set<Promise<void>>()
  const passable = passableDirectories(plan)
  const changes = new AbortController()
  let changeTimer: NodeJS.Timeout | undefined
  const endChanges = () => {
    changeTimer = setTimeout(() => changes.abort(over.reason), changeGrace)
  }
  over.addEventListener('abort', endChanges, { once: true })
  const { maxFileBytes } = limits
  const signals = { signal: over, changeSignal: changes.signal }
  const workspaceFiles = new WorkspaceFiles(files, { ...signals, maxFileBytes, passable, topEntries })
  const soFar = new SoFar()
  port.on('message', (message: FromWorker) => {
    if (message?.type === 'done') return ended.resolve(message)
    if (message?.type === 'progress') return soFar.add(message)
    if (over.aborted) return
    // an invalid message of the worker gets no answer
    const answered = answerTo(message).catch(() => undefined)
    asked.add(answered)
    void answered.finally(() => asked.delete(answered))
  })
  async function answerTo(message: Exclude<FromWorker, { type: 'done' | 'progress' }>): Promise<void> {
    if (message.type === 'input') return await answerInput(port, message.id, collect)
    if (message.type === 'python') {
      if (pythons === undefined) return
      const serve = (from: MessagePort, request: FileRequest) => answer(from, workspaceFiles, request)
      return await answerPython(port, message.id, () => pythons.run(message, { limits, signal: both, answer: serve }))
    }
    if (message.type !== 'fetch') return await answer(port, workspaceFiles, message)
    if (downloads !== undefined) await answerFetch(port, downloads, message)
  }
  const flag = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const stop = () => {
    Atomics.store(new Int32Array(flag), 0, 1)
    port.postMessage({ type: 'stop' } satisfies ToWorker)
  }
  stopping.addEventListener('abort', stop, { once: true })
  if (stopping.aborted) stop()
  let usable = true
  let shortage: Error | undefined
  worker.on('error', (error: Error & { readonly code?: string }) => {
    usable = false
    // Node also reports here that a thread failed to start.
    const short = shortages.of(error)
    if (short !== undefined) shortage = shortages.refusal(short, { native: error })
    if (error?.code !== 'ERR_WORKER_OUT_OF_MEMORY') ended.resolve(failed(126, 'the interpreter failed on this command'))
    else ended.resolve({ killed: 'SIGKILL', stderr: message(`killed: more than ${limits.maxMemory} bytes of memory`) })
  })
  worker.on('exit', () => {
    usable = false
    ended.resolve({ killed: 'SIGKILL' })
  })
  const task: WorkerCommand = {
    port: port2,
    command: request.command,
    cwd: request.cwd,
    root: plan.root,
    env,
    shellState: request.shellState,
    stdin,
    limits,
    hasNetwork: downloads !== undefined,
    hasPython: pythons !== undefined,
    stopping: flag,
  }
  worker.postMessage(task, [port2])
  const end = await ended.promise
  const ending = 'killed' in end ? { ...end, ...soFar.end(end.stderr) } : end
  port.close()
  stopping.removeEventListener('abort', stop)
  // A stopped command may have left state in the thread.
  if (usable && !stopping.aborted && !('killed' in ending)) pool.release(worker)
  else await pool.end(worker)
  await Promise.all(asked)
  over.removeEventListener('abort', endChanges)
  clearTimeout(changeTimer)
  if (shortage !== undefined) throw shortage
  const said = leftOutMessage(workspaceFiles.leftOut)
  return said === undefined
    ? ending
    : { ...ending, stderr: Buffer.concat([ending.stderr ?? new Uint8Array(), message(said)]) }
}

function failed(exitCode: number, reason: string): Ending {
  return { exitCode, stdout: new Uint8Array(), stderr: message(reason) }
}

function message(reason: string): Uint8Array {
  return Buffer.from(`bash: ${reason}\n`)
}
