export class PathQueue {
  readonly #tails = new Map<string, Promise<void>>()

  /** Runs the work after all earlier work on any of the paths. @throws the signal's reason on an abort before the work begins */
  async run<Result>(
    paths: readonly string[],
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const own = Promise.withResolvers<void>()
    const earlier: Promise<void>[] = []
    for (const path of new Set(paths)) {
      const tail = this.#tails.get(path)
      if (tail !== undefined) earlier.push(tail)
      const next = tail === undefined ? own.promise : tail.then(() => own.promise)
      this.#tails.set(path, next)
      const forget = (): void => {
        if (this.#tails.get(path) === next) this.#tails.delete(path)
      }
      void next.then(forget)
    }
    try {
      if (earlier.length > 0) await orAborted(Promise.all(earlier), signal)
      return await work()
    } finally {
      own.resolve()
    }
  }
}

export async function orAborted<Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => {
    aborted.reject(signal.reason)
  }
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
