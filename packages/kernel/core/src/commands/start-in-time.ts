import { virtualError } from '../mount/errors.ts'

export interface StartLimits {
  readonly operation: string
  /** Milliseconds for start and run together. Default: no limit. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Milliseconds of preparation that do not count against the timeout. */
const preparation = 5_000

/** Milliseconds within which an aborted start should end. */
const grace = 200

/**
 * Prepares and starts a command within its time, even if a file system hangs. Ends a command that starts too late.
 * @param start gets a function that returns the milliseconds left; `undefined` without a limit
 * @throws WorkspaceError `ETIMEDOUT`; `signal.reason`
 */
export async function startInTime<Started>(
  { operation, timeout, signal }: StartLimits,
  start: (left: () => number | undefined) => Promise<Started>,
  runningOf: (started: Started) => AsyncDisposable,
): Promise<Started> {
  const begun = performance.now()
  const left = () => {
    const took = Math.floor(performance.now() - begun)
    return timeout === undefined || took < preparation ? timeout : Math.max(1, timeout - took)
  }
  const starting = start(left)
  if ((timeout === undefined && signal === undefined) || signal?.aborted === true) return await starting
  const { promise: over, reject } = Promise.withResolvers<never>()
  let giveUp: NodeJS.Timeout | undefined
  const onAbort = (): void => {
    giveUp = setTimeout(() => reject(signal?.reason), grace)
  }
  const onTimeout = (): void => reject(late(operation))
  const timer = timeout === undefined ? undefined : setTimeout(onTimeout, Math.max(timeout, preparation))
  signal?.addEventListener('abort', onAbort, { once: true })
  let isOver = false
  // ends a command that starts late: the caller already has its error
  starting.then((started) => (isOver ? runningOf(started)[Symbol.asyncDispose]() : undefined)).catch(() => undefined)
  try {
    return await Promise.race([starting, over])
  } catch (error) {
    isOver = true
    throw error
  } finally {
    clearTimeout(timer)
    clearTimeout(giveUp)
    signal?.removeEventListener('abort', onAbort)
  }
}

function late(operation: string): Error {
  return virtualError({
    code: 'ETIMEDOUT',
    operation,
    reason: 'could not be started in time: this machine is busy, or a file system of the workspace does not answer',
    remedy: 'try again later, or raise `timeout`',
  })
}
