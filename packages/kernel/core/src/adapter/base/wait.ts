/** Awaits read-only work, but only until an abort. The aborted work continues, and `late` gets its result. */
export function orAbort<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
  late?: (result: Result) => void,
): Promise<Result> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    let state: 'waiting' | 'settled' | 'abandoned' = 'waiting'
    const onAbort = (): void => {
      state = 'abandoned'
      reject(signal.reason)
    }
    const settle = (): void => {
      if (state === 'waiting') signal.removeEventListener('abort', onAbort)
      state = 'settled'
    }
    work.then(
      (result) => {
        if (state === 'abandoned') late?.(result)
        settle()
        resolve(result)
      },
      (error: unknown) => {
        settle()
        reject(error)
      },
    )
    // Defers the listener to a microtask: finished work then never pays for a listener.
    queueMicrotask(() => {
      if (state !== 'waiting') return
      if (signal.aborted) onAbort()
      else signal.addEventListener('abort', onAbort, { once: true })
    })
  })
}
