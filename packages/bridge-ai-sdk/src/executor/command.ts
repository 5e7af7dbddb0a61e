import {
  execError,
  quoteForShell,
  type CommandRequest,
  type ExecutorResult,
  type KillSignal,
  type StartedCommand,
} from '@ws/core/executor'
import { createCommandOutput, resolveShell } from '@ws/process'
import type { OutputListener } from '@ws/process'
import type { Experimental_SandboxProcess, Experimental_SandboxSession } from 'ai'

import type { Copies, Refusal } from './copies.ts'

export interface StartOptions {
  readonly name: string
  readonly session: Experimental_SandboxSession
  readonly copies: Copies
  readonly request: CommandRequest
}

/** Starts a command in the sandbox, on a copy of the workspace as it is now. */
export async function startCommand({ name, session, copies, request }: StartOptions): Promise<StartedCommand> {
  const { signal, timeout } = request
  const startedAt = performance.now()
  // which shells the sandbox has, it says itself
  if (request.shell !== undefined) resolveShell({ shell: request.shell, existsInView: () => true })
  await copies.bring(signal)
  const process = await spawn(session, request)
  const output = createCommandOutput(request)
  let killedBy: KillSignal | undefined
  let timedOut = false
  let ended = false

  const kill = (given: KillSignal = 'SIGTERM'): boolean => {
    if (ended) return false
    killedBy ??= given
    void Promise.resolve(process.kill()).catch(() => undefined)
    return true
  }
  const onAbort = () => void kill('SIGKILL')
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) onAbort()
  const onTimeout = () => {
    timedOut = true
    kill('SIGKILL')
  }
  const timer = timeout === undefined ? undefined : setTimeout(onTimeout, timeout)

  async function follow(): Promise<ExecutorResult> {
    try {
      const [{ exitCode }] = await Promise.all([
        process.wait(),
        drain(process.stdout, output.onStdout),
        drain(process.stderr, output.onStderr),
      ])
      ended = true
      const refusals = await copies.fetch()
      signal?.throwIfAborted()
      for (const refusal of refusals) void output.onStderr(Buffer.from(sentence(name, refusal)))
      const failedCode = exitCode === 0 && refusals.length > 0 ? 1 : exitCode
      return {
        exitCode: killedBy === undefined ? failedCode : null,
        signal: killedBy ?? null,
        ...output.end(),
        timedOut,
        duration: performance.now() - startedAt,
        executor: name,
      }
    } finally {
      ended = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      output.end()
    }
  }

  const result = follow()
  result.catch(() => undefined)
  return {
    ...output.readers,
    kill,
    wait: () => result,
    async [Symbol.asyncDispose]() {
      kill('SIGKILL')
      await result.catch(() => undefined)
    },
  }
}

const sentence = (name: string, { path, reason }: Refusal): string =>
  `${name}: the change of \`${path}\` was not made in the workspace: it ${reason}\n`

async function spawn(
  session: Experimental_SandboxSession,
  request: CommandRequest,
): Promise<Experimental_SandboxProcess> {
  const { command, shell, login, cwd, env, stdin } = request
  const line =
    shell === undefined ? command : `exec ${quoteForShell(shell)} ${login ? '-lc' : '-c'} ${quoteForShell(command)}`
  const options = { command: line, workingDirectory: cwd, env: { ...env } }
  try {
    if (stdin === undefined) return await session.spawn(options)
    const process = await session.spawn({ ...options, stdin: true })
    void feed(process.stdin, stdin)
    return process
  } catch (error) {
    throw execError(
      'ENOEXEC',
      `the sandbox did not start the command${stdin === undefined ? '' : ' with standard input'}`,
      { path: cwd, remedy: 'look at the sandbox, or start a new one', native: error },
    )
  }
}

async function drain(stream: ReadableStream<Uint8Array>, listen: OutputListener): Promise<void> {
  for await (const chunk of stream) await listen(chunk)
}

/** A command that reads no more is not a fault. Never rejects. */
async function feed(to: WritableStream<Uint8Array>, input: NonNullable<CommandRequest['stdin']>): Promise<void> {
  const writer = to.getWriter()
  try {
    if (typeof input === 'string' || input instanceof Uint8Array) await writer.write(Buffer.from(input as string))
    else for await (const chunk of input) await writer.write(chunk)
    await writer.close()
  } catch {
    await writer.abort().catch(() => undefined)
  }
}
