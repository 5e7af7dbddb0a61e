import { parentPort } from 'node:worker_threads'

import { nativeFailure } from '../errors.ts'
import { type Answer, ending, type PlainError, type Request } from './protocol.ts'

export interface ServeOptions {
  /** True if the service does not keep returned bytes: their memory is then moved instead of copied. Default false. */
  readonly handsOver?: boolean | undefined
}

function memoryOf(result: unknown): ArrayBuffer[] {
  const isWhole = result instanceof Uint8Array && result.byteLength === result.buffer.byteLength
  return isWhole && result.buffer instanceof ArrayBuffer ? [result.buffer] : []
}

/** Handles a thread's requests, one at a time. Makes the service at the first request, so that its failure becomes an answer. */
export function serve<Service extends { close(): void }>(
  make: () => Service,
  { handsOver = false }: ServeOptions = {},
): void {
  const port = parentPort
  if (port === null) throw new Error('this file runs in a worker thread')
  let service: Service | undefined
  port.on('message', (request: Request<keyof Service> | typeof ending) => {
    if (request === ending) {
      // the worker ends without `terminate`, which has crashed the process while SQLite was open
      service?.close()
      port.close()
      return
    }
    const { id, method, args } = request
    let answer: Answer
    try {
      service ??= make()
      const run = (service[method] as (...given: readonly unknown[]) => unknown).bind(service)
      answer = { id, result: run(...args) }
    } catch (error) {
      answer = { id, error: plainError(error) }
    }
    port.postMessage(answer, handsOver && 'result' in answer ? memoryOf(answer.result) : [])
  })
}

export function plainError(error: unknown): PlainError {
  const { code, reason, remedy, partial, native } = nativeFailure(error)
  return { code, reason, remedy, partial, native: native instanceof Error ? native.stack : undefined }
}
