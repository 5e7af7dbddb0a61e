import type { MessagePort } from 'node:worker_threads'

import { type FileMethod, fileMethods, type WorkspaceAsyncFiles } from '../files/contract.ts'
import type {
  FetchRequest,
  Fetched,
  FileRequest,
  InputRequest,
  PythonEnd,
  PythonRequest,
  ToWorker,
} from './protocol.ts'

/** Requests a URL from the workspace's process, since only that process has a network. */
export type Fetch = (request: Omit<FetchRequest, 'type' | 'id'>) => Promise<Fetched>

/** Runs a python program in another thread, which the workspace's process starts and ends. */
export type RunPython = (request: Omit<PythonRequest, 'type' | 'id'>) => Promise<PythonEnd>

export interface RemoteFiles {
  readonly files: WorkspaceAsyncFiles
  readInput(): Promise<Uint8Array>
  fetch: Fetch
  python: RunPython
  receive(answer: Exclude<ToWorker, { type: 'stop' }>): void
}

export function createRemoteFiles(port: MessagePort): RemoteFiles {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let count = 0

  async function ask(
    request: Omit<FileRequest, 'id'> | Omit<InputRequest, 'id'> | Omit<FetchRequest, 'id'> | Omit<PythonRequest, 'id'>,
  ): Promise<unknown> {
    const id = count++
    const answer = Promise.withResolvers<unknown>()
    waiting.set(id, answer)
    port.postMessage({ ...request, id })
    return answer.promise
  }

  const call = (method: FileMethod, parameters: readonly unknown[]) => ask({ type: 'file', method, parameters })

  const entries = fileMethods.map((method) => [method, (...parameters: unknown[]) => call(method, parameters)])
  return {
    // The workspace's process checks names and arguments. The worker passes just-bash's values unchanged.
    files: Object.fromEntries(entries) as WorkspaceAsyncFiles,
    fetch: async (request) => (await ask({ type: 'fetch', ...request })) as Fetched,
    python: async (request) => (await ask({ type: 'python', ...request })) as PythonEnd,
    readInput: async () => (await ask({ type: 'input' })) as Uint8Array,
    receive(answer) {
      const { id } = answer
      const promise = waiting.get(id)
      waiting.delete(id)
      if (answer.type === 'value') promise?.resolve(answer.value)
      else promise?.reject(Object.assign(new Error(answer.message), { code: answer.code }))
    },
  }
}
