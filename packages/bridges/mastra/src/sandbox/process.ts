import { ProcessHandle } from '@mastra/core/workspace'
import type { CommandResult, SpawnProcessOptions } from '@mastra/core/workspace'
import type { OutputChunk, RunningCommand } from '@ws/core'
import { notesOfCommand, timedOutExitCode, wordsOf } from '@ws/tools/bridge'

interface End {
  readonly exitCode: number
  readonly timedOut: boolean
  readonly killed: boolean
}

/** Milliseconds that an interpreted command waits for its first input. */
const firstInputMs = 250

export class Process extends ProcessHandle {
  readonly pid: string
  exitCode: number | undefined
  readonly #startedAt = Date.now()
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  readonly #canWrite: boolean
  #running: RunningCommand | undefined
  /** Ends the standard input if the caller has written nothing. */
  #endUnwritten: (() => void) | undefined
  #ended: Promise<CommandResult> | undefined

  constructor(pid: string, options: SpawnProcessOptions) {
    super(options)
    this.pid = pid
    this.#canWrite = options.stdinMode !== 'ignore'
  }

  take({ stream, data }: OutputChunk): void {
    this.#emit(stream, this.#decoders[stream].decode(data, { stream: true }))
  }

  /** @param readsAllFirst true if the executor reads all input before the command starts: unwritten input must then be ended */
  follow(running: RunningCommand, readsAllFirst = false): void {
    this.#running = running
    this.#ended = this.#end(running)
    if (!readsAllFirst || !this.#canWrite) return
    this.#endUnwritten = () => running.endInput()
    setTimeout(() => this.#endUnwritten?.(), firstInputMs).unref()
  }

  override async wait(): Promise<CommandResult> {
    this.#endUnwritten?.()
    if (this.#ended === undefined) throw new Error(`process ${this.pid} was not started`)
    return this.#ended
  }

  async kill(): Promise<boolean> {
    if (this.exitCode !== undefined) return false
    return this.#running?.kill('SIGKILL') ?? false
  }

  async sendStdin(data: string): Promise<void> {
    await this.#writable().writeInput(data)
  }

  override async closeStdin(): Promise<void> {
    this.#writable().endInput()
  }

  #writable(): RunningCommand {
    if (this.exitCode !== undefined) throw new Error(`process ${this.pid} has exited with code ${this.exitCode}`)
    if (!this.#canWrite || this.#running === undefined) throw new Error(`process ${this.pid} has no standard input`)
    this.#endUnwritten = undefined
    return this.#running
  }

  async #end(running: RunningCommand): Promise<CommandResult> {
    const { exitCode, timedOut, killed } = await this.#outcome(running)
    this.exitCode = exitCode
    return {
      success: exitCode === 0,
      exitCode,
      stdout: this.stdout,
      stderr: this.stderr,
      executionTimeMs: Date.now() - this.#startedAt,
      timedOut,
      killed,
      ...(this.stdoutTruncated && { stdoutTruncated: true, stdoutDroppedBytes: this.stdoutDroppedBytes }),
      ...(this.stderrTruncated && { stderrTruncated: true, stderrDroppedBytes: this.stderrDroppedBytes }),
    }
  }

  async #outcome(running: RunningCommand): Promise<End> {
    try {
      const result = await running.wait()
      this.#emit('stdout', this.#decoders.stdout.decode())
      this.#emit('stderr', this.#decoders.stderr.decode())
      this.#emit(
        'stderr',
        notesOfCommand(result)
          .map((note) => `${note}\n`)
          .join(''),
      )
      const { exitStatus, timedOut, signal } = result
      return { exitCode: timedOut ? timedOutExitCode : exitStatus, timedOut, killed: signal !== null }
    } catch (error) {
      this.#emit('stderr', `${wordsOf(error)}\n`)
      return { exitCode: 1, timedOut: false, killed: false }
    }
  }

  #emit(stream: OutputChunk['stream'], text: string): void {
    if (text === '') return
    if (stream === 'stdout') this.emitStdout(text)
    else this.emitStderr(text)
  }
}
