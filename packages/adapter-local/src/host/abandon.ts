/**
 * Waits for work that may hang, until it is aborted. Only for what changes nothing: the work itself goes on, and cleans up
 * after itself when the file system answers at last. `late` gets a result that nobody waits for any more.
 */
export async function orAbort<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
  late?: (result: Result) => void,
): Promise<Result> {
  if (signal === undefined || signal.aborted) return await work // which looks at the signal before all else
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  let abandoned = false
  const onAbort = (): void => {
    abandoned = true
    reject(signal.reason)
  }
  work.then(
    (result) => {
      if (abandoned) late?.(result)
    },
    () => undefined,
  )
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
