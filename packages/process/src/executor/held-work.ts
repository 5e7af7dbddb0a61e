import { type RunningCommand, type Terminal, WorkspaceError } from '@ws/core'

/** The commands and terminals of one attached executor, from before their start to their end. */
export class HeldWork {
  readonly #running = new Set<AsyncDisposable>()
  readonly #starting = new Set<Promise<unknown>>()
  #closed = false

  /**
   * Starts something and keeps it until it ends.
   *
   * @throws WorkspaceError `ECLOSED` when no more may be started; `signal.reason`
   */
  async hold<Work extends RunningCommand | Terminal>(start: () => Promise<Work>, signal?: AbortSignal): Promise<Work> {
    if (this.#closed) throw closedError()
    signal?.throwIfAborted()
    const starting = start()
    this.#starting.add(starting)
    try {
      const running = await starting
      this.#running.add(running)
      const forget = () => this.#running.delete(running)
      running.wait().then(forget, forget)
      return running
    } finally {
      this.#starting.delete(starting)
    }
  }

  /** Lets nothing more start, and ends what runs or is about to. */
  async end(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#starting)
    await Promise.all([...this.#running].map((running) => running[Symbol.asyncDispose]()))
  }
}

/** What starting something in a closed executor is answered with. */
export function closedError(): WorkspaceError {
  return new WorkspaceError({ code: 'ECLOSED', operation: 'exec', reason: 'the workspace has been closed' })
}
