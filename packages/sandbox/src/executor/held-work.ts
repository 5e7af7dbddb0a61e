import { WorkspaceError } from '@ws/core'
import type { StartedCommand, Terminal } from '@ws/core/executor'

/** Milliseconds in which a start that was aborted ends by itself, on a busy machine too. */
const patienceMs = 1_000

/** The commands and terminals of one attached executor, from before their start to their end. */
export class HeldWork {
  readonly #running = new Set<StartedCommand | Terminal>()
  /** Those that have ended with processes left that no signal ends. */
  readonly #outlived = new Set<StartedCommand | Terminal>()
  readonly #starting = new Set<Promise<unknown>>()
  readonly #stop = new AbortController()

  /** Aborted, with `ECLOSED`, when nothing more may start. */
  get stopped(): AbortSignal {
    return this.#stop.signal
  }

  /**
   * Starts something and keeps it until it ends.
   *
   * @param start is given `signal` together with {@link stopped}. It must not start anything once that is aborted.
   * @throws WorkspaceError `ECLOSED` when no more may be started; `signal.reason`
   */
  async hold<Work extends StartedCommand | Terminal>(
    start: (signal: AbortSignal) => Promise<Work>,
    signal?: AbortSignal,
  ): Promise<Work> {
    this.#stop.signal.throwIfAborted()
    signal?.throwIfAborted()
    const starting = start(signal === undefined ? this.#stop.signal : AbortSignal.any([signal, this.#stop.signal]))
    this.#starting.add(starting)
    try {
      const running = await starting
      this.#running.add(running)
      const forget = () => {
        this.#running.delete(running)
        if (running.survivors === true) this.#outlived.add(running)
      }
      running.wait().then(forget, forget)
      if (!this.#stop.signal.aborted) return running
      await running[Symbol.asyncDispose]()
      throw closedError()
    } finally {
      this.#starting.delete(starting)
    }
  }

  /**
   * Lets nothing more start, and ends what runs or is about to. A start that does not end by itself is not waited for: its
   * signal keeps it from starting anything.
   *
   * @throws WorkspaceError `ETIMEDOUT` when that is so, or when processes are left that no signal ends
   */
  async end(): Promise<void> {
    this.#stop.abort(closedError())
    const starts = Promise.allSettled(this.#starting).then(() => true)
    const { promise: late, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(resolve, patienceMs, false)
    const areStartsOver = await Promise.race([starts, late])
    clearTimeout(timer)
    await Promise.all([...this.#running].map((running) => running[Symbol.asyncDispose]()))
    if (!areStartsOver || [...this.#outlived].some(({ survivors }) => survivors === true)) throw survivorsError()
  }
}

/** The error for starting something in a closed executor. */
function closedError(): WorkspaceError {
  return new WorkspaceError({ code: 'ECLOSED', operation: 'exec', reason: 'the workspace has been closed' })
}

function survivorsError(): WorkspaceError {
  return new WorkspaceError({
    code: 'ETIMEDOUT',
    operation: 'close',
    reason: 'processes of commands could not be ended: they wait for a file system that does not answer',
    remedy: 'they end when the file system answers, or when the operator removes its mount by force (`umount -f`)',
  })
}
