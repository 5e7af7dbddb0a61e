/**
 * Waits for work until it is aborted. The work itself goes on: use it for work that changes nothing. `late` gets a result
 * that nobody waits for any more.
 */
export async function orAbort<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  late?: (result: Result) => void,
): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  let isAbandoned = false
  const onAbort = (): void => {
    isAbandoned = true
    reject(signal.reason)
  }
  work.then(
    (result) => {
      if (isAbandoned) late?.(result)
    },
    () => undefined,
  )
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
