import { concurrency } from '@ws/core/adapter'
import { Descriptors } from '@ws/sandbox'
import { Worker } from 'node:worker_threads'

const mebibyte = 1024 * 1024
/** Milliseconds until an idle thread ends. */
const idleTime = 30_000
/** Descriptors that a thread needs for itself and its first file. */
const descriptorsOfThread = 5

export interface WorkerPoolOptions {
  readonly size: number
  readonly maxMemory: number
}

interface Idle {
  readonly worker: Worker
  readonly maxMemory: number
  readonly timer: NodeJS.Timeout
}

/** Idle threads of the whole process. Threads outlive their workspaces and executors. */
const idle: Idle[] = []
/** Limit of idle threads. */
const mostIdle = 4

/** Reuses threads, since the start of a thread takes as long as fifty commands. Only loaded code remains in a thread. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #turns: concurrency.Semaphore

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#turns = new concurrency.Semaphore(options.size)
  }

  /** Returns a thread, which the caller must release or end. Waits while all threads are busy. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<Worker> {
    await this.#turns.acquire(signal)
    const place = idle.findLastIndex(({ maxMemory }) => maxMemory === this.#options.maxMemory)
    const [{ worker, timer } = {}] = place === -1 ? [] : (idle.splice(place, 1) as Partial<Idle>[])
    clearTimeout(timer)
    const taken = worker ?? this.#startOrPass()
    taken.removeAllListeners('exit').removeAllListeners('error')
    taken.ref()
    return taken
  }

  /** Returns a thread to the pool after its command has finished. */
  release(worker: Worker): void {
    this.#turns.release()
    worker.removeAllListeners('exit').removeAllListeners('error')
    worker.on('error', () => undefined)
    worker.once('exit', () => forget(worker))
    worker.unref()
    const timer = setTimeout(() => dismiss(worker), idleTime)
    timer.unref()
    idle.push({ worker, maxMemory: this.#options.maxMemory, timer })
    for (const { worker: oldest } of idle.slice(0, -mostIdle)) dismiss(oldest)
  }

  /** Ends a thread, also a busy thread. */
  async end(worker: Worker): Promise<void> {
    try {
      await worker.terminate()
    } finally {
      this.#turns.release()
    }
  }

  #startOrPass(): Worker {
    try {
      return this.#start()
    } catch (error) {
      this.#turns.release()
      throw error
    }
  }

  /** @throws the system's error for lack of descriptors, Node's error for too many threads */
  #start(): Worker {
    Descriptors.requireDescriptors(descriptorsOfThread)
    const isSource = import.meta.url.endsWith('.ts')
    return new Worker(new URL(`../worker/main.${isSource ? 'ts' : 'js'}`, import.meta.url), {
      // The thread is isolated from this process: no variables, arguments, flags or standard streams.
      env: {},
      argv: [],
      // In the source tree, the thread runs without a build, with the installed just-bash.
      execArgv: ['--no-warnings', ...(isSource ? ['--conditions=@ws/source'] : [])],
      stdin: true,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(this.#options.maxMemory / mebibyte) },
    })
  }
}

/** Ends an idle thread. Removes the thread from the pool first, so that no command gets a dying thread. */
function dismiss(worker: Worker): void {
  forget(worker)
  void worker.terminate()
}

function forget(worker: Worker): void {
  const place = idle.findIndex((entry) => entry.worker === worker)
  if (place !== -1) clearTimeout(idle.splice(place, 1)[0]?.timer)
}
