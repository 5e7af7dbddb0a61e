import { Worker } from 'node:worker_threads'
import type { FromThread, ToThread } from './protocol.ts'

/** Whose answers come from the thread. */
export interface Listener {
  hear(answer: FromThread): void
  /** The thread is no more, and nothing comes any longer. */
  fail(error: Error): void
}

/** The thread that hashes, one for the process: there as long as there are streams, and a while longer. */
export class HashThread {
  static #current: HashThread | undefined
  readonly #worker: Worker
  readonly #listeners = new Map<number, Listener>()
  #lastStream = 0
  #waiting = 0
  #idle: NodeJS.Timeout | undefined

  static get(): HashThread {
    return (HashThread.#current ??= new HashThread())
  }

  private constructor() {
    const name = import.meta.url.endsWith('.ts') ? 'worker.ts' : 'worker.js'
    // nothing of this process reaches it but the bytes: no variables, no arguments, no flags, no standard streams
    const nothing = { env: {}, argv: [], execArgv: ['--no-warnings'], stdin: true, stdout: true, stderr: true }
    this.#worker = new Worker(new URL(name, import.meta.url), nothing)
    this.#worker.unref()
    this.#worker.on('message', (answer: FromThread) => this.#listeners.get(answer.stream)?.hear(answer))
    this.#worker.on('error', (error) => this.#end(error))
    this.#worker.on('exit', () => this.#end(new Error('the thread that makes checksums has ended')))
  }

  /** The number of a new stream. */
  begin(listener: Listener, partBytes: number | undefined): number {
    clearTimeout(this.#idle)
    this.#lastStream += 1
    const stream = this.#lastStream
    this.#listeners.set(stream, listener)
    this.tell({ stream, kind: 'begin', partBytes })
    return stream
  }

  tell(message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer)
  }

  /** It keeps the process alive while somebody waits for it, and no longer. */
  async waitFor<Result>(answer: Promise<Result>): Promise<Result> {
    this.#waiting += 1
    this.#worker.ref()
    try {
      return await answer
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0) this.#worker.unref()
    }
  }

  forget(stream: number): void {
    this.#listeners.delete(stream)
    if (this.#listeners.size > 0) return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#end(), idleMs).unref()
  }

  #end(error?: Error): void {
    if (HashThread.#current === this) HashThread.#current = undefined
    clearTimeout(this.#idle)
    for (const listener of this.#listeners.values()) if (error !== undefined) listener.fail(error)
    this.#listeners.clear()
    void this.#worker.terminate()
  }
}

/** Milliseconds for which the thread waits for another stream. */
const idleMs = 5_000
