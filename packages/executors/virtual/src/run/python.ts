import { execError, shortages } from '@ws/core/executor'
import { Descriptors } from '@ws/sandbox'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'

import type { VirtualLimits } from '../options.ts'
import type { FromPython, PythonData, PythonJob } from '../python/protocol.ts'
import type { Module } from '../python/web-assembly.ts'
import type { FileRequest, PythonEnd, PythonRequest } from '../worker/protocol.ts'

/** Milliseconds until a thread that waits for a program ends. */
const idleTime = 120_000
const descriptorsOfThread = 7
/** Megabytes of heap for the thread's own code. Python's memory is outside of the heap, and has a limit of its own. */
const heapOfThread = 128

/** The folder of CPython, which just-bash carries. @throws WorkspaceError `ENOEXECUTOR` if just-bash is not installed */
export function findPython(): string {
  const remedy = 'install `just-bash` beside `@ws/executor-virtual`'
  let native: unknown
  try {
    const bundle = dirname(createRequire(import.meta.url).resolve('just-bash'))
    const folder = join(bundle, '../../vendor/cpython-emscripten')
    if (existsSync(join(folder, 'python.wasm'))) return folder
  } catch (error) {
    native = error
  }
  throw execError('ENOEXECUTOR', '`python` needs the package `just-bash`, which is not installed', { remedy, native })
}

interface Thread {
  readonly worker: Worker
  readonly taken: SharedArrayBuffer
  readonly timer: NodeJS.Timeout
}

export interface RunPythonOptions {
  readonly limits: Required<VirtualLimits>
  /** Ends the program at once. */
  readonly signal: AbortSignal
  readonly answer: (port: MessagePort, request: FileRequest) => Promise<void>
}

const mostOfPiece = 64 * 1024

/** The outputs of a program, in order. Joins small pieces, since a program can write byte by byte. */
class Pieces {
  readonly all: PythonEnd['pieces'][number][] = []

  add(piece: PythonEnd['pieces'][number]): void {
    const last = this.all.at(-1)
    const { descriptor } = piece
    if (last?.descriptor !== descriptor || last.bytes.length + piece.bytes.length > mostOfPiece) this.all.push(piece)
    else this.all[this.all.length - 1] = { descriptor, bytes: Buffer.concat([last.bytes, piece.bytes]) }
  }
}

/** Runs python programs, each in a thread of its own. One thread waits for the next program, since a start takes long. */
export class Pythons {
  readonly #folder: string
  #module: Module | undefined
  #waiting: Thread | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Resolves when the thread and all its file operations have ended. */
  async run(request: PythonRequest, { limits, signal, answer }: RunPythonOptions): Promise<PythonEnd> {
    const { worker, taken, timer } = this.#waiting ?? this.#start()
    this.#waiting = undefined
    clearTimeout(timer)
    worker.removeAllListeners()
    worker.ref()
    const ended = Promise.withResolvers<Omit<PythonEnd, 'pieces' | 'hasRead'>>()
    const pieces = new Pieces()
    const counts = new Int32Array(taken)
    let hasRead = false
    const { port1: port, port2 } = new MessageChannel()
    let asked: Promise<void> | undefined
    const count = (index: 0 | 1) => {
      Atomics.add(counts, index, 1)
      Atomics.notify(counts, index)
    }
    async function answerTo(message: FileRequest): Promise<void> {
      try {
        await answer(port, message)
      } catch {
        // an invalid message gets no answer
      }
      count(0)
    }
    port.on('message', (message: FileRequest) => {
      asked = answerTo(message)
    })
    worker.on('message', (message: FromPython) => {
      if (message.type === 'module') this.#module = message.module
      else if (message.type === 'read') hasRead = true
      else if (message.type === 'done') ended.resolve(message)
      else {
        pieces.add(message)
        count(1)
      }
    })
    worker.on('error', (error) => {
      const reason =
        shortages.of(error) === undefined
          ? 'the interpreter failed on this program'
          : 'the machine is short of memory or threads'
      ended.resolve({ exitCode: 137, problem: reason })
    })
    worker.on('exit', () => ended.resolve({ exitCode: 137, problem: 'the interpreter ended' }))
    const stop = () => ended.resolve({ exitCode: 143 })
    signal.addEventListener('abort', stop) // @defence python program that never ends: an endless loop
    if (signal.aborted) stop()
    const deadline = request.timeout === undefined ? undefined : setTimeout(stop, request.timeout)
    const { words, env, cwd, stdin } = request
    worker.postMessage({ port: port2, words, env, cwd, stdin, limits } satisfies PythonJob, [port2])
    try {
      return { ...(await ended.promise), pieces: pieces.all, hasRead }
    } finally {
      clearTimeout(deadline)
      signal.removeEventListener('abort', stop)
      await worker.terminate()
      port.close()
      await asked
      if (this.#module !== undefined) this.#waiting ??= this.#start()
    }
  }

  /** @throws the system's error for lack of descriptors, Node's error for too many threads */
  #start(): Thread {
    Descriptors.requireDescriptors(descriptorsOfThread)
    const isSource = import.meta.url.endsWith('.ts')
    const taken = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
    const worker = new Worker(new URL(`../python/thread.${isSource ? 'ts' : 'js'}`, import.meta.url), {
      env: {},
      argv: [],
      execArgv: ['--no-warnings', ...(isSource ? ['--conditions=@ws/source'] : [])],
      stdin: true,
      stdout: true,
      stderr: true,
      workerData: { folder: this.#folder, given: this.#module, taken } satisfies PythonData,
      resourceLimits: { maxOldGenerationSizeMb: heapOfThread },
    })
    const forget = () => {
      if (this.#waiting?.worker === worker) this.#waiting = undefined
    }
    worker.on('error', forget).on('exit', forget).unref()
    const timer = setTimeout(() => {
      forget()
      void worker.terminate()
    }, idleTime).unref()
    return { worker, taken, timer }
  }
}
