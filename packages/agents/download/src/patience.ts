import { problems } from './errors.ts'

export interface PatienceOptions {
  readonly timeout: number
  readonly idleTimeout: number
  readonly signals: readonly AbortSignal[]
}

/** Limits a download's total and idle time. The caller's signal ends the download too. */
export class Patience {
  readonly signal: AbortSignal
  readonly #ending = new AbortController()
  readonly #idleTimeout: number
  readonly #total: NodeJS.Timeout
  #idle: NodeJS.Timeout | undefined
  #ended = false

  constructor({ timeout, idleTimeout, signals }: PatienceOptions) {
    this.#idleTimeout = idleTimeout
    this.#total = setTimeout(() => this.#ending.abort(problems.tooSlow(timeout)), timeout)
    this.signal = AbortSignal.any([...signals, this.#ending.signal])
    this.signal.addEventListener('abort', () => this.end(), { once: true })
    if (this.signal.aborted) this.end()
    else this.wait()
  }

  get reason(): unknown {
    return this.signal.aborted ? this.signal.reason : undefined
  }

  /** Starts the idle timeout: the server must send data. */
  wait(): void {
    clearTimeout(this.#idle)
    if (this.#ended) return
    this.#idle = setTimeout(() => this.#ending.abort(problems.idle(this.#idleTimeout)), this.#idleTimeout)
  }

  /** Stops the idle timeout while the reader is busy. */
  rest(): void {
    clearTimeout(this.#idle)
  }

  /** Calls `end` on timeout or abort, or at once after either. Returns a function that removes the callback. */
  onEnd(end: () => void): () => void {
    if (this.signal.aborted) end()
    else this.signal.addEventListener('abort', end, { once: true })
    return () => this.signal.removeEventListener('abort', end)
  }

  throwIfEnded(): void {
    this.signal.throwIfAborted()
  }

  end(): void {
    this.#ended = true
    clearTimeout(this.#total)
    clearTimeout(this.#idle)
  }
}
