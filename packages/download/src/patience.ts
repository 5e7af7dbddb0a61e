import { problems } from './errors.ts'

export interface PatienceOptions {
  readonly timeout: number
  readonly idleTimeout: number
  readonly signal: AbortSignal | undefined
}

/** The time that one download may take: altogether, and while nothing comes. Ends with the caller's signal too. */
export class Patience {
  readonly signal: AbortSignal
  readonly #ending = new AbortController()
  readonly #idleTimeout: number
  readonly #total: NodeJS.Timeout
  #idle: NodeJS.Timeout | undefined

  constructor({ timeout, idleTimeout, signal }: PatienceOptions) {
    this.#idleTimeout = idleTimeout
    this.#total = setTimeout(() => this.#ending.abort(problems.tooSlow(idleTimeout)), timeout)
    this.signal = signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal])
    this.wait()
  }

  /** Why it ended before the download was finished. */
  get reason(): unknown {
    return this.signal.aborted ? this.signal.reason : undefined
  }

  /** Waits for the server from now on. */
  wait(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#ending.abort(problems.tooSlow(this.#idleTimeout)), this.#idleTimeout)
  }

  /** Waits for the reader: that may take any time. */
  rest(): void {
    clearTimeout(this.#idle)
  }

  /** Calls back when the time is over, or the caller gives up. */
  onEnd(end: () => void): () => void {
    this.signal.addEventListener('abort', end, { once: true })
    return () => this.signal.removeEventListener('abort', end)
  }

  throwIfEnded(): void {
    this.signal.throwIfAborted()
  }

  /** The download is over: nothing is waited for any more. */
  end(): void {
    clearTimeout(this.#total)
    clearTimeout(this.#idle)
  }
}
