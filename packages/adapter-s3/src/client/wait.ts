import type { Deadline } from './deadline.ts'

/** Waits for `running`, but not longer than until `signal`. The SDK obeys its signal everywhere but while it waits for a socket or for credentials. */
export async function raceAbort<Result>(running: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return running
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  running.catch(() => undefined)
  try {
    return await Promise.race([running, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Waits some milliseconds, or until one of the signals. Never rejects. */
export async function sleep(delay: number, signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  if (signals.some((signal) => signal?.aborted === true)) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, delay)
  const wake = (): void => resolve()
  for (const signal of signals) signal?.addEventListener('abort', wake)
  await promise
  clearTimeout(timer)
  for (const signal of signals) signal?.removeEventListener('abort', wake)
}

/**
 * Waits for something other than a request: a turn at an object.
 *
 * @throws the signal's reason, or a `TimeoutError` when the deadline is over.
 */
export async function waitFor(
  running: Promise<unknown>,
  { signal, until }: { readonly signal?: AbortSignal | undefined; readonly until?: Deadline | undefined },
): Promise<void> {
  const late = until === undefined ? undefined : new AbortController()
  const expire = (): void => late?.abort(new DOMException('it took too long', 'TimeoutError'))
  const timer = until === undefined ? undefined : setTimeout(expire, Math.max(0, until.left))
  try {
    const signals = [signal, late?.signal].filter((one) => one !== undefined)
    await raceAbort(running, signals.length === 0 ? undefined : AbortSignal.any(signals))
  } finally {
    clearTimeout(timer)
  }
}
