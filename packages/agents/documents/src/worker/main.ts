import { parentPort } from 'node:worker_threads'

import type { Answer, FailedAnswer, PageAnswer, Request } from './protocol.ts'

let pages: AsyncGenerator<PageAnswer, undefined> | undefined

// Loads libraries on first use: a listing of sources never loads the PDF reader.
async function answer(request: Request): Promise<Answer> {
  if (request.kind === 'signatures') {
    const { readSignatures } = await import('./signatures/read-signatures.ts')
    return await readSignatures(request)
  }
  if (request.kind === 'markdown') {
    const { readMarkdown } = await import('./markdown/read-markdown.ts')
    return readMarkdown(request)
  }
  if (request.kind === 'pdf') {
    const { readPages } = await import('./pdf/read-pages.ts')
    pages = readPages(request)
  }
  const part = await pages?.next()
  if (part?.value === undefined) throw new Error('no document is open')
  return part.value
}

function asFailure(error: unknown): FailedAnswer {
  const { code, state, remedy } = error as Partial<FailedAnswer>
  if (code === undefined || state === undefined || remedy === undefined) throw error
  return { kind: 'failed', code, state, remedy }
}

parentPort?.on('message', (request: Request) => {
  void answer(request)
    .catch(asFailure)
    .then((answered) => parentPort?.postMessage(answered))
})
