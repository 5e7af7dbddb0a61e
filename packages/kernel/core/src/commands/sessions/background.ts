import type { CommandResult, KillSignal, RunningCommand } from '../../contract/executor.ts'
import { BothStreams } from '../../executor/both-streams.ts'
import { getCommandResult } from '../../executor/killed.ts'
import { narrowCommand } from '../command-options.ts'
import { type CommandDoor, defaultOutputBytes } from '../admission.ts'
import { launch, releaseOutput } from '../commands.ts'
import { checkMethod } from '../../calls/method-options.ts'
import type { Command } from '../../contract/workspace.ts'
import type { Ids } from './ids.ts'
import { OutputLog } from './output-log.ts'
import type { BackgroundCommand, BackgroundOptions, OutputOffsets } from '../../contract/sessions.ts'

const mostEnded = 64

export async function start(
  door: CommandDoor,
  commands: Ids<BackgroundCommand>,
  command: Command,
  options: BackgroundOptions = {},
): Promise<BackgroundCommand> {
  checkMethod('start', 'start', options)
  const id = commands.reserve(options.id)
  try {
    const { maxOutputBytes = defaultOutputBytes } = narrowCommand(door.context.commands, options)
    const logs = new BothStreams(() => new OutputLog(maxOutputBytes))
    const { running, line } = await launch(door, command, options, { onOutput: (chunk) => logs.push(chunk) })
    releaseOutput(running)
    const background = new LiveCommand({ id, line, startedAt: door.context.clock.now(), running, logs })
    commands.set(id, background)
    const prune = (): void => {
      const ended = commands.list().filter((entry) => !entry.running)
      for (const entry of ended.slice(0, Math.max(0, ended.length - mostEnded))) commands.delete(entry.id)
    }
    background.wait().then(prune, prune)
    return background
  } catch (error) {
    commands.delete(id)
    throw error
  }
}

interface LiveCommandOptions {
  readonly id: string
  readonly line: string
  readonly startedAt: number
  readonly running: RunningCommand
  readonly logs: BothStreams<OutputLog>
}

class LiveCommand implements BackgroundCommand {
  readonly id: string
  readonly command: string
  readonly startedAt: number
  readonly #running: RunningCommand
  readonly #logs: BothStreams<OutputLog>
  readonly #ending: Promise<CommandResult>
  #result: CommandResult | undefined
  #ended = false

  constructor({ id, line, startedAt, running, logs }: LiveCommandOptions) {
    this.id = id
    this.command = line
    this.startedAt = startedAt
    this.#running = running
    this.#logs = logs
    this.#ending = this.#follow()
    this.#ending.catch(() => undefined) // callers that await the end get the error
  }

  async #follow(): Promise<CommandResult> {
    try {
      const result = await this.#running.wait()
      this.#result = result
      return result
    } catch (error) {
      // The command may have read a denied file: then neither the error nor the logs may show output.
      if (getCommandResult(error)?.output === '') for (const log of this.#all()) log.clear()
      throw error
    } finally {
      this.#ended = true
      this.#logs.end()
      for (const log of this.#all()) log.finish()
    }
  }

  #all(): ReadonlySet<OutputLog> {
    return new Set([this.#logs.stdout, this.#logs.stderr, this.#logs.both])
  }

  get result(): CommandResult | undefined {
    return this.#result
  }

  get running(): boolean {
    return !this.#ended
  }

  output(options: { readonly since?: OutputOffsets | undefined } = {}): ReturnType<BackgroundCommand['output']> {
    checkMethod('output', 'output', options)
    const { stdout, stderr, output } = options.since ?? {}
    const { stdout: out, stderr: errors, both } = this.#logs
    return { stdout: out.read(stdout), stderr: errors.read(stderr), output: both.read(output) }
  }

  writeInput(data: string | Uint8Array): Promise<void> {
    return this.#running.writeInput(data)
  }

  endInput(): void {
    this.#running.endInput()
  }

  wait(): Promise<CommandResult> {
    return this.#ending
  }

  kill(signal: KillSignal = 'SIGTERM'): boolean {
    return !this.#ended && this.#running.kill(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL')
    await this.#ending.catch(() => undefined) // callers that await the end get the error
  }
}
