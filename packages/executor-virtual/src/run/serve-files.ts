import { codeOf, FileError } from '@ws/shell-tools/files'
import type { MessagePort } from 'node:worker_threads'

import { type FileMethod, fileMethods, type WorkspaceAsyncFiles } from '../files/contract.ts'
import type { FetchRequest, FileRequest, ToWorker } from '../worker/protocol.ts'
import type { CommandDownloads } from './downloads.ts'

const methods: ReadonlySet<string> = new Set(fileMethods)

/** Answers what a command asks of its files. The worker is not trusted: the name is checked here, the path by the door. */
export async function answer(port: MessagePort, files: WorkspaceAsyncFiles, request: FileRequest): Promise<void> {
  const { id } = request
  let message: ToWorker
  try {
    message = { type: 'value', id, value: await perform(files, request.method, request.parameters) }
  } catch (error) {
    const text = error instanceof Error ? error.message : 'EIO: input/output error'
    message = { type: 'error', id, code: codeOf(error), message: text }
  }
  port.postMessage(message)
}

/** Answers with the whole of standard input. */
export async function answerInput(
  port: MessagePort,
  id: number,
  collect: () => Promise<Uint8Array | undefined>,
): Promise<void> {
  let message: ToWorker
  try {
    message = { type: 'value', id, value: (await collect()) ?? new Uint8Array() }
  } catch (error) {
    const text = error instanceof FileError ? error.message : 'EINTR: interrupted system call'
    message = { type: 'error', id, code: codeOf(error), message: text }
  }
  port.postMessage(message)
}

/** Answers with the content of a URL. The worker is not trusted: the hosts are checked on this side. */
export async function answerFetch(
  port: MessagePort,
  downloads: CommandDownloads,
  request: FetchRequest,
): Promise<void> {
  const value = await downloads.fetch(request)
  port.postMessage({ type: 'value', id: request.id, value } satisfies ToWorker)
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
