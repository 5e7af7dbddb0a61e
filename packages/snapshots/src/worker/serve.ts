import { parentPort } from 'node:worker_threads'

import { nativeFailure } from '../errors.ts'
import type { Answer, PlainError, Request } from './protocol.ts'

/** The memory of bytes that nothing else here uses: it changes hands, and is not copied. */
function ownBuffer(result: unknown): ArrayBuffer[] {
  const isWhole = result instanceof Uint8Array && result.byteLength === result.buffer.byteLength
  return isWhole && result.buffer instanceof ArrayBuffer ? [result.buffer] : []
}

/** Answers the requests of a thread, one at a time. The service is made for the first, so that its failure is an answer. */
export function serve<Service extends object>(make: () => Service): void {
  const port = parentPort
  if (port === null) throw new Error('this file runs in a worker thread')
  let service: Service | undefined
  port.on('message', ({ id, method, args }: Request<keyof Service>) => {
    let answer: Answer
    try {
      service ??= make()
      const run = (service[method] as (...given: readonly unknown[]) => unknown).bind(service)
      answer = { id, result: run(...args) }
    } catch (error) {
      answer = { id, error: plainError(error) }
    }
    port.postMessage(answer, 'result' in answer ? ownBuffer(answer.result) : [])
  })
}

/** An error as one thread tells it to another. */
export function plainError(error: unknown): PlainError {
  const { code, reason, remedy, partial, native } = nativeFailure(error)
  return { code, reason, remedy, partial, native: native instanceof Error ? native.stack : undefined }
}
