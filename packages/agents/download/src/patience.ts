import { problems } from './errors.ts'

export interface PatienceOptions {
  readonly timeout: number
  readonly idleTimeout: number
  /** Any of them ends it. */
  readonly signals: readonly AbortSignal[]
}

/** The time that one download may take: altogether, and while nothing comes. Ends with the caller's signal too. */
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

  /** Why it ended before the download was finished. */
  get reason(): unknown {
    return this.signal.aborted ? this.signal.reason : undefined
  }

  /** Waits for the server from now on. */
  wait(): void {
    clearTimeout(this.#idle)
    if (this.#ended) return
    this.#idle = setTimeout(() => this.#ending.abort(problems.idle(this.#idleTimeout)), this.#idleTimeout)
  }

  /** Waits for the reader: that may take any time. */
  rest(): void {
    clearTimeout(this.#idle)
  }

  /** Calls back when the time is over, or the caller gives up: at once where that has happened already. */
  onEnd(end: () => void): () => void {
    if (this.signal.aborted) end()
    else this.signal.addEventListener('abort', end, { once: true })
    return () => this.signal.removeEventListener('abort', end)
  }

  throwIfEnded(): void {
    this.signal.throwIfAborted()
  }

  /** The download is over: nothing is waited for any more. */
  end(): void {
    this.#ended = true
    clearTimeout(this.#total)
    clearTimeout(this.#idle)
  }
}
