import { codeOf, FileError } from '@ws/shell-tools/files'
import type { MessagePort } from 'node:worker_threads'

import { type FileMethod, fileMethods, type WorkspaceAsyncFiles } from '../files/contract.ts'
import type { FetchRequest, FileRequest, PythonEnd, ToWorker } from '../worker/protocol.ts'
import type { CommandDownloads } from './downloads.ts'

const methods: ReadonlySet<string> = new Set(fileMethods)

/** Answers a file request. The worker is not trusted: this function checks the name, the file API checks the path. */
export function answer(port: MessagePort, files: WorkspaceAsyncFiles, request: FileRequest): Promise<void> {
  const { id, method, parameters } = request
  return tell(
    port,
    id,
    () => perform(files, method, parameters),
    (error) => (error instanceof Error ? error.message : 'EIO: input/output error'),
  )
}

export function answerInput(
  port: MessagePort,
  id: number,
  collect: () => Promise<Uint8Array | undefined>,
): Promise<void> {
  return tell(
    port,
    id,
    async () => (await collect()) ?? new Uint8Array(),
    (error) => (error instanceof FileError ? error.message : 'EINTR: interrupted system call'),
  )
}

/** Answers a download request. The worker is not trusted: this process checks the hosts. */
export function answerFetch(port: MessagePort, downloads: CommandDownloads, request: FetchRequest): Promise<void> {
  return tell(
    port,
    request.id,
    () => downloads.fetch(request),
    () => 'EIO: the download failed',
  )
}

/** Answers a request to run a python program. */
export function answerPython(port: MessagePort, id: number, work: () => Promise<PythonEnd>): Promise<void> {
  return tell(port, id, work, () => 'EIO: python did not start')
}

/** Sends the result of `work`. Never rejects: an error in a message handler would end this process. */
async function tell(
  port: MessagePort,
  id: number,
  work: () => Promise<unknown>,
  textOf: (error: unknown) => string,
): Promise<void> {
  let message: ToWorker
  try {
    message = { type: 'value', id, value: await work() }
  } catch (error) {
    message = { type: 'error', id, code: codeOf(error), message: textOf(error) }
  }
  port.postMessage(message)
}

async function perform(
  files: WorkspaceAsyncFiles,
  method: FileMethod,
  parameters: readonly unknown[],
): Promise<unknown> {
  if (!methods.has(method) || typeof parameters[0] !== 'string') throw new Error('EINVAL: invalid argument')
  const operation: (...all: never[]) => Promise<unknown> = files[method]
  return operation.apply(files, parameters as never[])
}
