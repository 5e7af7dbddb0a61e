import { WorkspaceError } from '@ws/core'

import { resolveOptions, type DocumentsOptions } from './options.ts'
import { readMarkdown, type MarkdownOptions } from './markdown.ts'
import { readPdf, type PdfPagesOptions, type PdfText } from './pdf-pages.ts'
import { readSignatures, type SignatureText, type SignaturesOptions } from './signatures.ts'
import type { Call } from './call.ts'
import { ThreadPool } from './threads/pool.ts'

export interface Documents extends AsyncDisposable {
  /**
   * The text of a PDF by page. Do not change the bytes before the promise settles: they are copied in parts.
   * When time or memory run out after the first pages, the result is partial and a note says how to continue.
   * The result's notes also report pages that are out of range, broken or empty, and text beyond 16 Mi characters.
   * @throws WorkspaceError `EINVAL` for an encrypted, broken or truncated PDF; `EFBIG` for size or memory; `ETIMEDOUT`; `ECLOSED`. An abort
   * rejects with the signal's reason.
   */
  pdfPages(bytes: Uint8Array, options?: PdfPagesOptions): Promise<PdfText>
  /**
   * The signatures of a source: classes, functions, and TypeScript types.
   * Sources of more than 262,144 UTF-16 units, or too complex for the parser, are read by patterns; see `method`.
   * @throws WorkspaceError `EINVAL` for an unknown language; `EFBIG`; `ETIMEDOUT`; `ECLOSED`. An abort rejects with the signal's reason.
   */
  signatures(source: string, options: SignaturesOptions): Promise<SignatureText>
  /**
   * Converts HTML to Markdown. Links and images become absolute, by the page's `<base>` or by `url`.
   * @throws WorkspaceError `EINVAL` for a relative URL; `EFBIG` above 8,388,608 UTF-16 units; `ETIMEDOUT`; `ECLOSED`.
   * An abort rejects with the signal's reason.
   */
  markdown(html: string, options: MarkdownOptions): Promise<string>
  /** Ends all threads. Calls that run reject with `ECLOSED`. */
  close(): Promise<void>
}

/** Opens a reader of documents. Its threads start on demand. @throws WorkspaceError `EINVAL` for wrong options */
export function openDocuments(options: DocumentsOptions = {}): Documents {
  const { concurrency, maxMemory, idleTimeout } = resolveOptions(options)
  const pool = new ThreadPool({ size: concurrency, maxMemory, idleTimeout })
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()

  async function track<Result>(operation: string, read: (call: Call) => Promise<Result>): Promise<Result> {
    if (closing.signal.aborted) throw closedError(operation)
    const result = read({ pool, maxMemory, closing: closing.signal })
    running.add(result)
    try {
      return await result
    } catch (error) {
      throw error === closing.signal.reason ? closedError(operation) : error
    } finally {
      running.delete(result)
    }
  }

  async function close(): Promise<void> {
    closing.abort()
    await Promise.allSettled(running)
    await pool.close()
  }

  return {
    pdfPages: (bytes, given = {}) => track('pdfPages', (call) => readPdf(bytes, given, call)),
    signatures: (source, given) => track('signatures', (call) => readSignatures(source, given, call)),
    markdown: (html, given) => track('markdown', (call) => readMarkdown(html, given, call)),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function closedError(operation: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ECLOSED',
    operation,
    reason: 'the reader of documents is closed',
    remedy: 'open another one with `openDocuments`',
  })
}
