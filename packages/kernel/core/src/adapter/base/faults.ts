import { isWorkspaceError, WorkspaceError } from '../../errors.ts'
import { LinkSignal } from '../link-signal.ts'
import { BodyFailure } from './body.ts'
import { orAbort } from './wait.ts'

/** Limit in milliseconds for a change to end after its abort. */
const abortMs = 2_000

export interface FaultContext {
  readonly name: string
  readonly operation: string
  readonly path: string
  readonly signal?: AbortSignal | undefined
}

/** A fault inside a driver. {@link explain} passes its message on, since the message contains no host path. */
export class DriverFault extends Error {}

/** Returns an `EBACKEND` error: the driver broke its contract, and the caller made no mistake. */
export function fault({ name, operation, path }: FaultContext, what: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'EBACKEND',
    operation,
    path,
    reason: `cannot be worked on: the adapter ${name} has a fault: ${what}`,
    remedy: 'report it to the authors of the adapter',
    native,
  })
}

/** Keeps an error that the contract knows. Turns any other error into a fault. */
export function explain(error: unknown, context: FaultContext, method = context.operation): unknown {
  if (isWorkspaceError(error) || error instanceof LinkSignal || error instanceof BodyFailure) return error
  if (error instanceof DriverFault) return fault(context, error.message)
  const kind = error instanceof Error ? error.name : typeof error
  const { signal } = context
  // On an abort, Node's own functions may reject with an `AbortError` instead of the signal's reason.
  if (signal?.aborted === true && (error === signal.reason || kind === 'AbortError')) return signal.reason
  return fault(context, `\`${method}\` threw a foreign error (${kind})`, error)
}

/** Checks one call of an untrusted driver: the shape of the result, the errors, and the end after an abort. */
export async function checked<Result>(
  work: Promise<Result>,
  { context, changes, accepts }: { context: FaultContext; changes: boolean; accepts: (value: unknown) => boolean },
): Promise<Result> {
  try {
    const result = await (changes ? untilEnded(work, context) : work)
    if (accepts(result)) return result
  } catch (error) {
    throw explain(error, context)
  }
  throw fault(context, `\`${context.operation}\` resolved with a value of another shape`)
}

/** After an abort, waits until the change has succeeded or failed. Stops waiting after {@link abortMs}. */
async function untilEnded<Result>(work: Promise<Result>, context: FaultContext): Promise<Result> {
  if (context.signal === undefined) return await work
  const late = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const onAbort = (): void => {
    const what = `\`${context.operation}\` did not end after its abort; the change may have taken place`
    timer = setTimeout(() => late.abort(fault(context, what)), abortMs)
  }
  context.signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await orAbort(work, late.signal)
  } finally {
    context.signal.removeEventListener('abort', onAbort)
    clearTimeout(timer)
  }
}
