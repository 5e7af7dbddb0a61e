import { Writable } from 'node:stream'

import { execError, quoteForShell, type CommandRequest, type KillSignal } from '@ws/core/executor'
import { type CommandDriver, type CommandPort, type CommandRun, resolveShell } from '@ws/sandbox'
import type { Experimental_SandboxProcess, Experimental_SandboxSession } from 'ai'

import type { Copies, Refusal } from './copies.ts'

export interface CommandsOptions {
  readonly name: string
  readonly session: Experimental_SandboxSession
  readonly copies: Copies
  readonly onClose: () => void
}

/** Milliseconds for copying an ended command's changes out of the sandbox. */
const patience = 600_000

/** Runs each command in the sandbox, on a copy of the workspace that is made when the command starts. */
export function commandsIn({ name, session, copies, onClose }: CommandsOptions): CommandDriver {
  async function start({ request, onStdout, onStderr }: CommandRun): Promise<CommandPort> {
    await copies.bring(request.signal)
    const process = await spawn(session, request)
    let killedBy: KillSignal | undefined
    const kill = (signal: KillSignal): boolean => {
      killedBy ??= signal
      void Promise.resolve(process.kill()).catch(() => undefined) // a process that has ended needs no signal
      return true
    }
    const exited = async () => {
      const ended = process.wait()
      const [{ exitCode }] = await Promise.all([
        ended,
        drain(process.stdout, onStdout),
        drain(process.stderr, onStderr),
      ])
      const refusals = await copies.fetch()
      for (const refusal of refusals) void onStderr(Buffer.from(sentence(name, refusal)))
      if (killedBy !== undefined) return { signal: killedBy }
      return { status: exitCode === 0 && refusals.length > 0 ? 1 : exitCode }
    }
    return {
      stdin: process.stdin === undefined ? undefined : Writable.fromWeb(process.stdin as never),
      // The sandbox can only kill its processes.
      signal: (signal, whom) => whom === 'command' && kill(signal),
      end: () => void kill('SIGKILL'),
      exited: exited(),
    }
  }

  return {
    patience,
    async prepare(_plan, { shell }) {
      // checks only the shell's name, since its program is in the sandbox
      if (shell !== undefined) resolveShell({ shell, existsInView: () => true })
      return await Promise.resolve({})
    },
    start: (_prepared, run) => start(run),
    close: async () => await Promise.resolve(onClose()),
  }
}

const sentence = (name: string, { path, reason }: Refusal): string =>
  `${name}: the change of \`${path}\` was not made in the workspace: it ${reason}\n`

async function spawn(
  session: Experimental_SandboxSession,
  { command, shell, login, cwd, env, stdin }: CommandRequest,
): Promise<Experimental_SandboxProcess & { readonly stdin?: unknown }> {
  const line =
    shell === undefined ? command : `exec ${quoteForShell(shell)} ${login ? '-lc' : '-c'} ${quoteForShell(command)}`
  const options = { command: line, workingDirectory: cwd, env: { ...env } }
  try {
    return await session.spawn(stdin === undefined ? options : { ...options, stdin: true })
  } catch (error) {
    throw execError(
      'ENOEXEC',
      `the sandbox did not start the command${stdin === undefined ? '' : ' with standard input'}`,
      { path: cwd, remedy: 'look at the sandbox, or start a new one', native: error },
    )
  }
}

async function drain(stream: ReadableStream<Uint8Array>, listen: CommandRun['onStdout']): Promise<void> {
  for await (const chunk of stream) await listen(chunk)
}
