import type { CommandResult, KillSignal, RunningCommand } from '../../executor/contract.ts'
import { narrowCommand } from '../command-options.ts'
import { defaultOutputBytes, launch } from '../commands.ts'
import type { CommandDoor } from '../commands.ts'
import { checkMethod } from '../../calls/method-options.ts'
import type { Command } from '../../workspace/types.ts'
import type { Ids } from './ids.ts'
import { OutputLog } from './output-log.ts'
import { teeToFile } from './output-file.ts'
import type { BackgroundCommand, BackgroundOptions, OutputOffsets } from './types.ts'

/** Ended commands that are still listed. */
const mostEnded = 64

/** Starts a command that outlives the call. */
export async function start(
  door: CommandDoor,
  commands: Ids<BackgroundCommand>,
  command: Command,
  options: BackgroundOptions = {},
): Promise<BackgroundCommand> {
  checkMethod('start', 'start', options)
  const id = commands.reserve(options.id)
  try {
    const { running, line, output, wait } = await teeToFile(door, options, () => launch(door, command, options))
    const { maxOutputBytes } = narrowCommand(door.context.commands, options)
    const background = new LiveCommand({ id, line, running, output, wait, limit: maxOutputBytes })
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
  readonly running: RunningCommand
  readonly output: Pick<RunningCommand, 'stdout' | 'stderr'>
  readonly wait: () => Promise<CommandResult>
  readonly limit: number | undefined
}

class LiveCommand implements BackgroundCommand {
  readonly id: string
  readonly command: string
  readonly startedAt = Date.now()
  readonly #running: RunningCommand
  readonly #stdout: OutputLog
  readonly #stderr: OutputLog
  readonly #ending: Promise<CommandResult>
  #result: CommandResult | undefined
  #ended = false

  constructor({ id, line, running, output, wait, limit = defaultOutputBytes }: LiveCommandOptions) {
    this.id = id
    this.command = line
    this.#running = running
    this.#stdout = new OutputLog(limit)
    this.#stderr = new OutputLog(limit)
    const streams = [collect(output.stdout, this.#stdout), collect(output.stderr, this.#stderr)]
    this.#ending = this.#follow(Promise.all(streams), wait)
    this.#ending.catch(() => undefined)
  }

  async #follow(streams: Promise<unknown>, wait: () => Promise<CommandResult>): Promise<CommandResult> {
    try {
      const result = await wait()
      await streams
      this.#result = result
      return result
    } finally {
      this.#ended = true
      this.#stdout.finish()
      this.#stderr.finish()
    }
  }

  get result(): CommandResult | undefined {
    return this.#result
  }

  get running(): boolean {
    return !this.#ended
  }

  output(options: { readonly since?: OutputOffsets | undefined } = {}): ReturnType<BackgroundCommand['output']> {
    checkMethod('output', 'output', options)
    const { stdout = 0, stderr = 0 } = options.since ?? {}
    return { stdout: this.#stdout.read(stdout), stderr: this.#stderr.read(stderr) }
  }

  wait(): Promise<CommandResult> {
    return this.#ending
  }

  kill(signal: KillSignal = 'SIGTERM'): boolean {
    return !this.#ended && this.#running.kill(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL')
    await this.#ending.catch(() => undefined)
  }
}

async function collect(stream: AsyncIterable<Uint8Array>, log: OutputLog): Promise<void> {
  for await (const chunk of stream) log.push(chunk)
}
