import { isWorkspaceError, WorkspaceError, type ErrorCode } from '@ws/core'

import type { ThreadPool } from './threads/pool.ts'
import { ThreadEnded, type Thread } from './threads/thread.ts'
import type { Answer } from './worker/protocol.ts'

export interface Call {
  readonly pool: ThreadPool
  readonly maxMemory: number
  readonly closing: AbortSignal
}

export interface Bounds {
  readonly operation: string
  /** `PDF` or `source`: "the PDF is …". */
  readonly subject: string
  readonly path: string | undefined
  readonly signal: AbortSignal | undefined
  readonly timeout: number
}

export async function runInThread<Result>(
  { pool, closing, maxMemory }: Call,
  bounds: Bounds,
  task: (thread: Thread, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { signal, timeout } = bounds
  signal?.throwIfAborted()
  const expiry = new AbortController()
  const timer = setTimeout(() => expiry.abort(), timeout)
  const all = AbortSignal.any([expiry.signal, closing, ...(signal === undefined ? [] : [signal])])
  let started = false
  try {
    return await pool.run(all, (thread) => {
      started = true
      return task(thread, all)
    })
  } catch (error) {
    signal?.throwIfAborted()
    closing.throwIfAborted()
    if (isWorkspaceError(error)) throw error
    if (expiry.signal.aborted) throw timedOut(bounds, started)
    if (error instanceof ThreadEnded && error.by === 'memory') {
      throw documentError(
        bounds,
        'EFBIG',
        `takes more than ${mebibytes(maxMemory)} of memory`,
        limitRemedy('maxMemory'),
        error,
      )
    }
    throw documentError(bounds, 'EINVAL', 'makes the reader fail', 'get the file in another format', error)
  } finally {
    clearTimeout(timer)
  }
}

function timedOut(bounds: Bounds, started: boolean): WorkspaceError {
  const { timeout } = bounds
  return started
    ? documentError(bounds, 'ETIMEDOUT', `was not read within ${timeout} ms`, limitRemedy('timeout'))
    : documentError(bounds, 'ETIMEDOUT', `waited ${timeout} ms for others to be read`, 'try again later')
}

const limitRemedy = (limit: string) => `raise \`${limit}\`, or get the file in another format`

/** `state` completes the sentence "the PDF …", or "`/a.pdf` …" where the path is known. */
export function documentError(
  { operation, subject, path }: Bounds,
  code: ErrorCode,
  state: string,
  remedy: string,
  native?: unknown,
): WorkspaceError {
  const reason = path === undefined ? `the ${subject} ${state}` : state
  return new WorkspaceError({ code, operation, path, reason, remedy, native })
}

export function expectAnswer<Kind extends Answer['kind']>(
  answer: Answer,
  kind: Kind,
  bounds: Bounds,
): Extract<Answer, { kind: Kind }> {
  if (answer.kind === 'failed') throw documentError(bounds, answer.code, answer.state, answer.remedy)
  if (answer.kind !== kind) throw new Error(`the thread answered ${answer.kind}, not ${kind}`)
  return answer as Extract<Answer, { kind: Kind }>
}

export const mebibytes = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MiB`
