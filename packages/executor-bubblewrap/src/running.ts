import { constants } from 'node:os'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { isWorkspaceError, type WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import {
  type CommandRequest,
  type ExecutorResult,
  listingLost,
  protectionLost,
  sandboxKilled,
  shortError,
  type StartedCommand,
} from '@ws/core/executor'
import { type CommandOutputs, createCommandOutput, type PipeMaker, type ProcessInput } from '@ws/process'
import { type NameKeeper, unreadableCaller } from '@ws/sandbox'

import type { SandboxCommand } from './arguments.ts'
import type { Sandbox } from './let-go.ts'
import type { CommandNetwork } from './network/named-network.ts'
import { startSandbox } from './sandbox.ts'
import type { WarmPool } from './warm/pool.ts'
import type { Warden } from './warden.ts'

export const executorName = 'bubblewrap'

const attempts = 6

export interface CommandStart {
  readonly request: CommandRequest
  readonly owner: Owner
  readonly warden: Warden
  readonly keeper: () => NameKeeper
  readonly pipes?: PipeMaker | undefined
  readonly warm?: WarmPool | undefined
  readonly network?: CommandNetwork | undefined
  readonly onExposure: 'cover' | 'end'
  /** Lets go of what the command had reserved. Called once it has ended; not when it could not be started. */
  readonly release?: (() => Promise<void>) | undefined
  /** Opens the sources anew for each attempt, and closes them afterwards. */
  readonly withCommand: <T>(use: (command: SandboxCommand) => Promise<T>) => Promise<T>
}

/**
 * Starts a command and follows it to its end.
 *
 * @throws WorkspaceError `EBUSY` when what is bound kept changing through all attempts, `ENOEXEC`; `signal.reason`
 */
export async function startCommand({
  request,
  owner,
  warden,
  keeper,
  pipes,
  warm,
  network,
  onExposure,
  release,
  withCommand,
}: CommandStart): Promise<StartedCommand> {
  const startedAt = performance.now()
  const output = createCommandOutput(request)
  const sandbox = await retrying(() =>
    withCommand((command) =>
      startSandbox({
        command,
        owner,
        warden,
        keeper,
        pipes,
        warm,
        network,
        onExposure,
        stdin: directInput(request),
        onStdout: output.onStdout,
        onStderr: output.onStderr,
        signal: request.signal,
      }),
    ),
  )
  feed(sandbox, request)
  const ending = createEnding(sandbox, request)
  const { outOfReach } = sandbox.process
  const letGo = async () => {
    const released = release?.()
    // The command waits for a file system that does not answer, and so may this.
    if (!outOfReach.aborted) await released
    else void released?.catch(() => undefined)
  }
  const run = async () => {
    try {
      return await follow(sandbox, { request, output, ending, startedAt, letGo })
    } finally {
      await letGo()
      ending.finish()
      output.end()
    }
  }
  const result = run()
  result.catch(() => undefined)
  return {
    ...output.readers,
    kill: ending.kill,
    get survivors() {
      return sandbox.process.survivors
    },
    wait: () => result,
    async [Symbol.asyncDispose]() {
      ending.kill('SIGKILL')
      await result.catch(() => undefined)
    },
  }
}

async function retrying<T>(start: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (attempt >= attempts || !isWorkspaceError(error, 'EBUSY')) throw error
    }
  }
}

/** Input in memory can be given twice; a stream is touched only when the command runs. */
function directInput({ stdin }: CommandRequest): ProcessInput {
  if (stdin === undefined) return 'none'
  return typeof stdin === 'string' || stdin instanceof Uint8Array ? stdin : 'pipe'
}

function feed({ process }: Sandbox, { stdin }: CommandRequest): void {
  if (stdin === undefined || typeof stdin === 'string' || stdin instanceof Uint8Array || !process.stdin) return
  const target = process.stdin
  const ended = new AbortController()
  const stop = () => ended.abort()
  process.wait().then(stop, stop)
  pipeline(Readable.from(stdin), target, { signal: ended.signal }).catch(() => target.destroy())
}

interface Ending {
  readonly kill: StartedCommand['kill']
  finish(): void
  state(): { readonly timedOut: boolean; readonly aborted: boolean; readonly sent: ReadonlySet<string> }
}

/** Everything that ends a command before it ends by itself. */
function createEnding(sandbox: Sandbox, request: CommandRequest): Ending {
  const sent = new Set<string>()
  let timedOut = false
  let aborted = false
  let finished = false
  let grace: NodeJS.Timeout | undefined
  const kill: StartedCommand['kill'] = (signal = 'SIGTERM') => {
    if (finished) return false
    sent.add(signal)
    if (signal !== 'SIGKILL') return sandbox.signal(signal)
    sandbox.end()
    return true
  }
  const politely = () => {
    kill('SIGTERM')
    grace ??= setTimeout(() => kill('SIGKILL'), request.killGrace)
  }
  const timer =
    request.timeout === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = !aborted
          politely()
        }, request.timeout)
  const onAbort = () => {
    aborted = true
    politely()
  }
  request.signal?.addEventListener('abort', onAbort, { once: true })
  if (request.signal?.aborted) onAbort()
  return {
    kill,
    finish() {
      finished = true
      clearTimeout(timer)
      clearTimeout(grace)
      request.signal?.removeEventListener('abort', onAbort)
    },
    state: () => ({ timedOut, aborted, sent }),
  }
}

interface Following extends Pick<CommandStart, 'request'> {
  readonly output: CommandOutputs
  readonly letGo: () => Promise<void>
  readonly ending: Ending
  readonly startedAt: number
}

async function follow(
  sandbox: Sandbox,
  { request, output, ending, startedAt, letGo }: Following,
): Promise<ExecutorResult> {
  const ended = await sandbox.process.wait()
  if (!ended.survivors) await sandbox.gone
  // The keeper looks a last time before it lets go of what it is asked to after that.
  const [{ lost, exposed = [] } = {}] = await Promise.all([sandbox.watch?.end(), sandbox.errorsRead, letGo()])
  const { timedOut, aborted, sent } = ending.state()
  if (aborted && !timedOut) throw request.signal?.reason
  const exitCode = sandbox.exitCode()
  const result = {
    ...outcome(exitCode, ended.signal, sent),
    ...output.end(),
    timedOut,
    duration: Math.round(performance.now() - startedAt),
    executor: executorName,
    ...(ended.survivors && { survivors: true as const }),
    ...(exposed.length > 0 && { violations: exposed }),
  }
  if (lost !== undefined) throw protectionLost(result, lost.at)
  if (sandbox.hides && ended.exitCode === unreadableCaller) throw listingLost(result)
  if (sandbox.unstarted()) throw noProcess()
  const killed = sandbox.hides && (ended.signal !== null || ended.exitCode !== 0) && !sent.has('SIGKILL')
  if (killed || (exitCode === undefined && sent.size === 0)) throw sandboxKilled(result)
  return result
}

/** Inside the sandbox, where the limits of the command hold too. */
export function noProcess(): WorkspaceError {
  const reason = 'there are as many processes and threads as the command or its user may have'
  const remedy = 'end processes that are no longer needed, or raise the limit (`processes`, `ulimit -u`, `pids.max`)'
  const native = Object.assign(new Error('the first process could not fork'), { code: 'EAGAIN', syscall: 'fork' })
  return shortError({ code: 'EIO', reason, remedy }, { native })
}

/**
 * The first process reports what a shell would: 128 and the signal's number. That reads as a signal where one was sent from here.
 * Without a report, the sandbox was killed as a whole, from here.
 */
function outcome(
  exitCode: number | undefined,
  signal: string | null,
  sent: ReadonlySet<string>,
): Pick<ExecutorResult, 'exitCode' | 'signal'> {
  if (exitCode === undefined) return { exitCode: null, signal: signal ?? 'SIGKILL' }
  const named = [...sent].find((name) => constants.signals[name as NodeJS.Signals] === exitCode - 128)
  return named === undefined ? { exitCode, signal: null } : { exitCode: null, signal: named }
}
