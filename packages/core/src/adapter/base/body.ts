import { contractError, invalidArgument } from '../failures.ts'

/** A failure of the caller's own stream, on its way through a driver: the base gives the caller `reason` as it is. */
export class BodyFailure extends Error {
  readonly reason: unknown

  constructor(reason: unknown) {
    super('the stream to be written failed')
    this.reason = reason
  }
}

export interface BodyOptions {
  readonly path: string
  /** Aborted when the adapter is closed. */
  readonly closing: AbortSignal
  readonly signal: AbortSignal | undefined
}

/**
 * The caller's stream, as drivers read it. An abort and the end of the adapter end it, even while it hangs. Its own errors
 * come as {@link BodyFailure}.
 */
export function bodyOf(
  data: AsyncIterable<Uint8Array>,
  { path, closing, signal }: BodyOptions,
): AsyncIterable<Uint8Array> {
  const ending = signal === undefined ? closing : AbortSignal.any([signal, closing])
  const whyEnded = (): unknown => (signal?.aborted === true ? signal.reason : contractError('ECLOSED', 'write', path))
  return {
    [Symbol.asyncIterator]() {
      const source = iteratorOf(data)
      let fail: ((error: unknown) => void) | undefined
      const onEnd = (): void => fail?.(whyEnded())
      const stop = (): void => ending.removeEventListener('abort', onEnd)
      const leave = (): void => {
        stop()
        void end(source)
      }
      // one for the whole stream: one for each chunk would cost as much as the chunk
      ending.addEventListener('abort', onEnd, { once: true })
      return {
        next: () =>
          new Promise((resolve, reject) => {
            fail = (error) => {
              leave()
              reject(error)
            }
            if (ending.aborted) return onEnd()
            void ask(source).then((result) => {
              if (result.done === true) stop()
              if (result.done === true || result.value instanceof Uint8Array) resolve(result)
              else fail?.(foreignChunk(path))
            }, fail)
          }),
        async return() {
          leave()
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

async function ask(source: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await source.next()
  } catch (error) {
    throw new BodyFailure(error)
  }
}

/** Not awaited by its callers: a stream that hangs would hang its end too. */
async function end(source: AsyncIterator<Uint8Array>): Promise<void> {
  try {
    await source.return?.()
  } catch {
    // nobody reads it any more
  }
}
