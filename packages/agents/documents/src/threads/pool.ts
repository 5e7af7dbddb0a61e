import { concurrency } from '@ws/core/adapter'

import { Thread } from './thread.ts'

export interface ThreadPoolOptions {
  readonly size: number
  readonly maxMemory: number
  readonly idleTimeout: number
}

/** Starts threads on demand. An idle thread remains for the next document until `idleTimeout`. */
export class ThreadPool {
  readonly #options: ThreadPoolOptions
  readonly #idle: { readonly thread: Thread; readonly timer: NodeJS.Timeout }[] = []
  readonly #turns: concurrency.Semaphore

  constructor(options: ThreadPoolOptions) {
    this.#options = options
    this.#turns = new concurrency.Semaphore(options.size)
  }

  /** Runs a task in a thread. If the task rejects, the thread ends. @throws the task's error; `signal.reason` while waiting */
  async run<Result>(signal: AbortSignal, task: (thread: Thread) => Promise<Result>): Promise<Result> {
    return this.#turns.run(async () => {
      const thread = this.#take()
      try {
        const result = await task(thread)
        if (!thread.ended) this.#keep(thread)
        return result
      } catch (error) {
        await thread.end()
        throw error
      }
    }, signal)
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#idle.splice(0).map(({ thread, timer }) => {
        clearTimeout(timer)
        return thread.end()
      }),
    )
  }

  #take(): Thread {
    const { thread, timer } = this.#idle.pop() ?? {}
    clearTimeout(timer)
    const taken = thread ?? this.#start()
    taken.hold(true)
    return taken
  }

  #start(): Thread {
    const thread = new Thread(this.#options.maxMemory)
    thread.onExit(() => this.#forget(thread))
    return thread
  }

  #keep(thread: Thread): void {
    thread.hold(false)
    const timer = setTimeout(() => {
      this.#forget(thread)
      void thread.end()
    }, this.#options.idleTimeout)
    timer.unref()
    this.#idle.push({ thread, timer })
  }

  #forget(thread: Thread): void {
    const place = this.#idle.findIndex((entry) => entry.thread === thread)
    if (place !== -1) this.#idle.splice(place, 1)
  }
}
