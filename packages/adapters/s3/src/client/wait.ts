import { signals } from '@ws/core/adapter'
import type { Deadline } from './deadline.ts'

/** Waits some milliseconds, or until one of the signals aborts. Never rejects. */
export async function sleep(delay: number, aborts: readonly (AbortSignal | undefined)[]): Promise<void> {
  if (aborts.some((signal) => signal?.aborted === true)) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, delay)
  const wake = (): void => resolve()
  for (const signal of aborts) signal?.addEventListener('abort', wake)
  await promise
  clearTimeout(timer)
  for (const signal of aborts) signal?.removeEventListener('abort', wake)
}

/** Waits for work other than requests. @throws the signal's reason, or a `TimeoutError` after the deadline */
export async function waitFor(
  running: Promise<unknown>,
  { signal, until }: { readonly signal?: AbortSignal | undefined; readonly until?: Deadline | undefined },
): Promise<void> {
  const late = until === undefined ? undefined : new AbortController()
  const expire = (): void => late?.abort(new DOMException('it took too long', 'TimeoutError'))
  const timer = until === undefined ? undefined : setTimeout(expire, Math.max(0, until.left))
  try {
    const aborts = [signal, late?.signal].filter((one) => one !== undefined)
    await (aborts.length === 0 ? running : signals.orAbort(running, AbortSignal.any(aborts)))
  } finally {
    clearTimeout(timer)
  }
}
