import { parentPort, workerData } from 'node:worker_threads'

import { nativeFailure } from '../errors.ts'
import type { Answer, PlainError, Request, WorkerData } from './protocol.ts'
import { Service } from './service.ts'

const port = parentPort
if (port === null) throw new Error('this file runs in a worker thread')
let service: Service | undefined

port.on('message', ({ id, method, args }: Request) => {
  let answer: Answer
  try {
    service ??= new Service(workerData as WorkerData)
    const run = service[method].bind(service) as (...given: readonly unknown[]) => unknown
    answer = { id, result: run(...args) }
  } catch (error) {
    answer = { id, error: plain(error) }
  }
  port.postMessage(answer)
})

function plain(error: unknown): PlainError {
  const { code, reason, remedy, partial, native } = nativeFailure(error)
  return { code, reason, remedy, partial, native: native instanceof Error ? native.stack : undefined }
}
