import { during } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import type { CommandRequest, CommandResult, OutputChunk, RunningCommand } from '../contract/executor.ts'
import { virtualError } from '../mount/errors.ts'
import type { Command, ExecOptions } from '../contract/workspace.ts'
import { admit, type CommandDoor, orEnd, requestOf, startPlanned } from './admission.ts'
import { auditOf, connectionAudit, type ConnectionAudit } from './command-audit.ts'
import { narrowCommand } from './command-options.ts'
import { closedInput, InputPipe } from './input-pipe.ts'
import { judgeCommand } from './judged-command.ts'
import { startInTime } from './start-in-time.ts'

export async function exec(door: CommandDoor, command: Command, options: ExecOptions = {}): Promise<CommandResult> {
  checkMethod('exec', 'exec', options)
  if (options.writableStdin === true) {
    throw useless(
      'exec',
      '`exec` gives nothing to write with, so `writableStdin` would leave the command waiting',
      'use `spawn` or `start`, or give the whole input as `stdin`',
    )
  }
  const { running } = await launch(door, command, options)
  releaseOutput(running)
  const result = await running.wait()
  if (options.durable === true) await door.sync()
  return result
}

/** Releases the output streams. Output that a caller has not read remains available. */
export function releaseOutput({ stdout, stderr }: RunningCommand): void {
  for (const stream of [stdout, stderr]) void stream[Symbol.asyncIterator]().return?.()
}

export async function spawn(door: CommandDoor, command: Command, options: ExecOptions = {}): Promise<RunningCommand> {
  checkMethod('exec', 'spawn', options)
  if (options.durable === true) {
    throw useless(
      'spawn',
      '`durable` waits for the end of the command, and `spawn` does not',
      'use `exec`, or call `flush` of the workspace when the command has ended',
    )
  }
  const { running } = await launch(door, command, options)
  return running
}

/**
 * Starts a command after all checks, and audits its end or its refusal.
 * @param background set if no caller waits. This `onOutput` runs before the caller's listener, must not throw, and copies each chunk
 */
export async function launch(
  door: CommandDoor,
  command: Command,
  options: ExecOptions,
  background?: { readonly onOutput: CommandRequest['onOutput'] },
): Promise<{ readonly running: RunningCommand; readonly line: string }> {
  const audit = auditOf(door, { operation: 'exec', command, options })
  try {
    const { timeout } = narrowCommand(door.context.commands, options)
    const limits = { operation: 'exec', timeout, signal: options.signal }
    const input = options.writableStdin === true ? openInput(options) : undefined
    const streams = { stdin: input ?? options.stdin, onOutput: listeners(background?.onOutput, options.onOutput) }
    let connections: ConnectionAudit | undefined
    const start = async (left: () => number | undefined) => {
      const asked = { onAdmitted: audit.onAdmitted, background: background !== undefined }
      const admitted = await admit(door, command, options, asked)
      const { normalised, executor } = admitted
      connections = connectionAudit(door, admitted.cwd)
      const running = await orEnd(admitted, async () => {
        const run = await door.checkpoints.before(`before \`${normalised.line}\``, options)
        const request = {
          ...requestOf(admitted, left()),
          ...streams,
          onConnection: connections?.hear,
          files: door.files,
        }
        return run.during(
          startPlanned(door, admitted, async (plan) => {
            const spawned = await executor.attached.spawn(request, plan)
            const judging = { ...admitted, ...door.context, plan, changes: run.changes }
            return judgeCommand(spawned, input ?? closedInput, judging)
          }),
        )
      })
      return { running, line: normalised.line }
    }
    const starting = (left: () => number | undefined) => during(door.context.state.starting, start(left))
    const started = await startInTime(limits, starting, ({ running }) => running)
    const { running } = started
    door.running.add(running)
    const forget = (): void => {
      door.running.delete(running)
      connections?.end()
      input?.close()
    }
    running.wait().then(
      (result) => {
        forget()
        audit.done(result)
      },
      (error: unknown) => {
        forget()
        audit.failed(error, running.survivors)
      },
    )
    return started
  } catch (error) {
    audit.failed(error)
    throw error
  }
}

function openInput({ stdin }: ExecOptions): InputPipe {
  if (stdin === undefined) return new InputPipe()
  throw virtualError({
    code: 'EINVAL',
    operation: 'exec',
    reason: '`stdin` and `writableStdin` cannot be given together',
    remedy: 'write the content of `stdin` with `writeInput`',
  })
}

function useless(operation: string, reason: string, remedy: string): Error {
  return virtualError({ code: 'EINVAL', operation, reason, remedy })
}

type Listener = NonNullable<CommandRequest['onOutput']>

function listeners(own: Listener | undefined, given: ExecOptions['onOutput']): Listener | undefined {
  if (given === undefined) return own
  const callers = harmless(given)
  if (own === undefined) return callers
  return (chunk) => {
    own(chunk)
    callers(chunk)
  }
}

/** Passes a copy of the bytes to the caller's listener. Ignores exceptions and rejections of the listener. */
function harmless(listener: (chunk: OutputChunk) => unknown): Listener {
  return ({ stream, data }) => {
    try {
      const answer = listener({ stream, data: Uint8Array.from(data) })
      if (answer instanceof Promise) answer.catch(() => undefined)
    } catch {
      // The command and other readers of its output continue.
    }
  }
}
