import type { RunningCommand, Workspace } from '@ws/core'
import type { Experimental_SandboxProcess, Experimental_SandboxSession } from 'ai'

type Spawn = Experimental_SandboxSession['spawn']
type SpawnOptions = Parameters<Spawn>[0]
type WritableProcess = Experimental_SandboxProcess & { readonly stdin: WritableStream<Uint8Array> }

/** Starts a process. Rejects where the workspace refuses the command, or cannot keep its standard input open. */
export function createSpawn(workspace: Workspace): Spawn {
  const spawn = async (options: SpawnOptions): Promise<Experimental_SandboxProcess | WritableProcess> => {
    const { command, workingDirectory, env, abortSignal, stdin = false } = options
    const running = await workspace.spawn(command, {
      cwd: workingDirectory,
      env,
      signal: abortSignal,
      writableStdin: stdin,
    })
    const process = processOf(running)
    return stdin ? { ...process, stdin: inputOf(running) } : process
  }
  // one function for three signatures: the result has `stdin` only if the caller requested `stdin`
  return spawn as Spawn
}

/** Limit of the bytes kept from an unread stream during `wait`. Beyond this limit, the command waits for the reader. */
const mostUnread = 64 * 1024 * 1024

function processOf(running: RunningCommand): Experimental_SandboxProcess {
  const [stdout, stderr] = [new Output(running.stdout), new Output(running.stderr)]
  return {
    stdout: stdout.stream,
    stderr: stderr.stream,
    async wait() {
      // keep unread output: a command that cannot write never ends
      stdout.keep()
      stderr.keep()
      const { exitStatus } = await running.wait()
      return { exitCode: exitStatus }
    },
    async kill() {
      // wait until the whole process tree has ended
      running.kill('SIGKILL')
      await running.wait().catch(() => undefined)
    },
  }
}

class Output {
  readonly stream: ReadableStream<Uint8Array>
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #kept: Uint8Array[] = []
  #keptBytes = 0
  /** The latest read. The next read waits for its end, so that reads take chunks in order. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]()
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const chunk = await this.#inTurn(async () => this.#takeKept() ?? (await this.#next()))
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    }
    const cancel = async (): Promise<void> => {
      await this.#chunks.return?.()
    }
    this.stream = new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 })
  }

  keep(): void {
    const step = async (): Promise<boolean> => {
      const chunk = await this.#next()
      if (chunk === undefined) return false
      this.#kept.push(chunk)
      this.#keptBytes += chunk.length
      return true
    }
    const toEnd = async (): Promise<void> => {
      while (this.#keptBytes < mostUnread && (await this.#inTurn(step)));
    }
    // the reader of a failing stream gets the error at its next read
    void toEnd().catch(() => undefined)
  }

  #takeKept(): Uint8Array | undefined {
    const chunk = this.#kept.shift()
    this.#keptBytes -= chunk?.length ?? 0
    return chunk
  }

  async #next(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#chunks.next()
    return done === true ? undefined : value
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => undefined) // the caller of `result` receives the error
    return result
  }
}

function inputOf(running: RunningCommand): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: (chunk) => running.writeInput(chunk),
    close: () => running.endInput(),
    abort: () => running.endInput(),
  })
}
