import { contractError, invalidArgument } from '../failures.ts'

/** A failure of the caller's own stream: the base rethrows `reason`. */
export class BodyFailure extends Error {
  readonly reason: unknown

  constructor(reason: unknown) {
    super('the stream to be written failed')
    this.reason = reason
  }
}

export interface BodyOptions {
  readonly path: string
  readonly signal: AbortSignal | undefined
  readonly open: Set<() => void>
}

/** Wraps the caller's stream for a driver. An abort or `close` ends even a stream that hangs. Its errors become {@link BodyFailure}. */
export function bodyOf(
  data: AsyncIterable<Uint8Array>,
  { path, signal, open }: BodyOptions,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const source = iteratorOf(data)
      let ended: { readonly why: unknown } | undefined
      let reject: ((error: unknown) => void) | undefined
      const stop = (): void => {
        open.delete(onClose)
        signal?.removeEventListener('abort', onAbort)
      }
      const leave = (why: unknown): void => {
        ended ??= { why }
        stop()
        void end(source)
        reject?.(why)
      }
      const onAbort = (): void => leave(signal?.reason)
      const onClose = (): void => leave(contractError('ECLOSED', 'write', path))
      // one listener for the whole stream: a listener per chunk would cost as much as the chunk
      open.add(onClose)
      signal?.addEventListener('abort', onAbort, { once: true })
      return {
        next: () =>
          new Promise((resolve, refuse) => {
            reject = refuse
            if (signal?.aborted === true) onAbort()
            if (ended !== undefined) return refuse(ended.why)
            ask(source).then(
              (result) => {
                if (result.done === true) stop()
                if (result.done === true || result.value instanceof Uint8Array) resolve(result)
                else leave(foreignChunk(path))
              },
              (error: unknown) => leave(new BodyFailure(error)),
            )
          }),
        async return() {
          stop()
          void end(source)
          return { done: true, value: undefined }
        },
      }
    },
  }
}

function foreignChunk(path: string): Error {
  const remedy = 'encode text with TextEncoder first'
  return invalidArgument('write', path, 'was given a chunk that is not a Uint8Array', remedy)
}

function iteratorOf(data: AsyncIterable<Uint8Array>): AsyncIterator<Uint8Array> {
  try {
    return data[Symbol.asyncIterator]()
  } catch (error) {
    throw new BodyFailure(error)
  }
}

function ask(source: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return Promise.resolve(source.next()) // a hand-written iterator may return a plain result instead of a promise
  } catch (error) {
    return Promise.reject(error as Error)
  }
}

/** Closes the source. Callers do not await the end: a stream that hangs may never end. Never rejects. */
async function end(source: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await source.return?.()
  } catch {
    // the stream has no reader left
  }
}
