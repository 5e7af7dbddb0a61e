import type { WorkspaceError } from '@ws/core'
import { execError, shortages } from '@ws/core/executor'
import {
  type CommandEnd,
  type CommandPort,
  type CommandRun,
  Descriptors,
  type KnownEnd,
  type LocalCommand,
  Processes,
  startLocal,
} from '@ws/sandbox'

import { descriptors } from './prelude.ts'

export interface WrappedCommand extends LocalCommand {
  readonly platform: NodeJS.Platform
}

export interface WrappedEnd extends CommandEnd {
  /** The output of the library's programs. */
  readonly said?: string | undefined
}

/** Starts a wrapped command. Resolves when the command itself is about to start, so that signals reach it. */
export async function startWrapped(command: WrappedCommand, run: CommandRun): Promise<CommandPort> {
  const port = startLocal(command, run)
  const { running } = port
  const { signal } = run.request
  const kill = () => void running.kill('SIGKILL')
  signal?.addEventListener('abort', kill, { once: true })
  const mark = Descriptors.collect(running.pipes.get(descriptors.mark))
  const errorsRead = Descriptors.readFurtherOutput(running.pipes.get(descriptors.errors), run.onStderr, running.ended)
  const exited = running.wait().then(async ({ exitCode, signal: name, survivors, stderr }): Promise<WrappedEnd> => {
    await errorsRead
    if (mark.text() === '') return { unstarted: true, survivors, said: `${exitCode ?? name} ${stderr.text}` }
    return exitCode === null ? { signal: name ?? 'SIGKILL', survivors } : { shellStatus: exitCode, survivors }
  })
  await Promise.race([mark.until((text) => text !== ''), exited])
  signal?.removeEventListener('abort', kill)
  const signalGroup = port.signal
  return Object.assign(port, {
    exited,
    signal: (name: Parameters<typeof signalGroup>[0], whom: 'command' | 'everyone') =>
      command.platform === 'linux' ? signalInside(running.pid, name) : signalGroup(name, whom),
  })
}

/** Programs of the library. A polite signal would end one of them, and all processes with it. */
const own = new Set(['bwrap', 'apply-seccomp'])

/** Signals all processes in the sandbox, which has a session of its own. @returns false if no process received the signal */
function signalInside(root: number | undefined, signal: NodeJS.Signals): boolean {
  const entries = new Map(Processes.listProcesses().map((entry) => [entry.pid, entry]))
  const wayOf = (pid: number): readonly number[] => {
    const way: number[] = []
    for (let at = entries.get(pid); at !== undefined && !way.includes(at.pid); at = entries.get(at.parent))
      way.push(at.pid)
    return way
  }
  const ways = [...entries.values()].map(({ pid, name }) => ({ pid, name, way: wayOf(pid) }))
  const below = ways.filter(({ pid, way }) => pid !== root && root !== undefined && way.includes(root))
  // The library's programs, and the shells that start them.
  const spared = new Set(below.flatMap(({ name, way }) => (own.has(name) ? way : [])))
  return below
    .filter(({ pid }) => !spared.has(pid))
    .map(({ pid }) => Processes.sendSignal(pid, signal))
    .some(Boolean)
}

/** Returns why a command did not start. */
export function explainFailure(end: WrappedEnd, { result, request }: KnownEnd): WorkspaceError | undefined {
  const { said = '', unstarted } = end
  if (unstarted !== true || result.timedOut) return undefined
  if (said.startsWith('125 ')) {
    return execError('ENOEXEC', 'cannot be entered by commands', {
      path: request.cwd,
      remedy: 'give a directory of the workspace that the policy lets commands enter',
      native: new Error(said),
    })
  }
  const shortage = shortages.inText(said)
  if (shortage !== undefined) return shortages.refusal(shortage, { native: new Error(said) })
  return execError('ENOEXEC', 'sandbox-runtime could not start the command', {
    remedy: 'ask the executor’s probe what is missing',
    native: new Error(said),
  })
}
