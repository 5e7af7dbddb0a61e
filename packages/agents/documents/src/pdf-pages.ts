import { setImmediate as nextTurn } from 'node:timers/promises'

import { isWorkspaceError, WorkspaceError } from '@ws/core'
import { checkOption, checkOptions, option, type OptionShapes } from '@ws/core/options'

import { documentError, expectAnswer, mebibytes, runInThread, type Bounds, type Call } from './call.ts'
import { noteEmptyPages, noteRange } from './pdf-notes.ts'
import type { PdfPage } from './worker/protocol.ts'

const operation = 'pdfPages'
const mostPages = 1000

export interface PageRange {
  /** The first page, from 1. Default 1. */
  readonly first?: number | undefined
  /** The last page, inclusive. Default: the document's last page. */
  readonly last?: number | undefined
}

export interface PdfPagesOptions {
  /** Default: all pages. Pages beyond the end become a note. */
  readonly pages?: PageRange | undefined
  /** Limit of pages in the result; a note reports further pages. Default and largest value 1,000. */
  readonly maxPages?: number | undefined
  /** Shown in errors. Default: "the PDF". */
  readonly path?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds. Default 30,000. */
  readonly timeout?: number | undefined
}

export interface PdfText {
  /** Pages of the whole document. */
  readonly pageCount: number
  /** In page order. An unreadable page has no text; a note reports the page. */
  readonly pages: readonly PdfPage[]
  /** Omissions and how to continue, for a model. One sentence each. */
  readonly notes: readonly string[]
}

const shapes: OptionShapes<PdfPagesOptions> = {
  pages: option.options<PageRange>({ first: option.integer(1), last: option.integer(1) }),
  maxPages: option.integer(1, mostPages),
  path: option.text,
  signal: option.signal,
  timeout: option.duration,
}

export async function readPdf(bytes: Uint8Array, options: PdfPagesOptions, call: Call): Promise<PdfText> {
  checkOption(
    operation,
    'bytes',
    bytes,
    option.of('a `Uint8Array`', (value) => value instanceof Uint8Array),
  )
  checkOptions<PdfPagesOptions>(options, shapes, { operation })
  const { pages: { first = 1, last } = {}, maxPages = mostPages, path, signal, timeout = 30_000 } = options
  if (last !== undefined && last < first) {
    const reason = `\`pages.last\` must be at least \`pages.first\` (${first}), got \`${last}\``
    throw new WorkspaceError({ code: 'EINVAL', operation, path, reason, remedy: 'pass the first page first' })
  }
  const bounds: Bounds = { operation, subject: 'PDF', path, signal, timeout }
  const maxBytes = call.maxMemory / 4
  if (bytes.length > maxBytes) {
    const state = `has ${bytes.length} bytes, more than ${mebibytes(maxBytes)}`
    throw documentError(bounds, 'EFBIG', state, 'split it into smaller files, or raise `maxMemory`')
  }
  const pages: PdfPage[] = []
  const broken: number[] = []
  const notes: string[] = []
  let pageCount = 0
  let pending = false
  try {
    await runInThread(call, bounds, async (thread, stop) => {
      const copy = await copyInParts(bytes, stop)
      let answer = await thread.ask({ kind: 'pdf', bytes: copy, first, last, maxPages }, [copy], stop)
      for (;;) {
        const part = expectAnswer(answer, 'page', bounds)
        pageCount = part.pageCount
        notes.push(...part.notes)
        if (part.page !== undefined) {
          pages.push(part.page)
          if (part.broken) broken.push(part.page.number)
        } else if (part.marks) addMarks(part.marks)
        pending = part.page !== undefined && !part.broken
        if (part.spent) await thread.end()
        if (part.done) return
        answer = await thread.ask({ kind: 'more' }, [], stop)
      }
    })
    notes.push(...noteRange({ first, last, maxPages, pageCount, lastRead: pages.at(-1)?.number ?? 0 }))
  } catch (error) {
    const read = pages.some(({ text }) => text !== '')
    if (!isWorkspaceError(error) || !read || signal?.aborted === true) throw error
    const number = pages.at(-1)?.number ?? 0
    const where = pending ? `the fields and comments of page ${number}` : `page ${number + 1}`
    const goOn = number < Math.min(last ?? pageCount, pageCount) ? `; continue with pages from ${number + 1}` : ''
    notes.push(`reading stopped at ${where}: ${error.reason}${goOn}`)
  }
  const empty = pages.filter(({ number, text }) => text === '' && !broken.includes(number)).map(({ number }) => number)
  notes.push(...noteEmptyPages(empty, broken))
  return { pageCount, pages, notes }

  function addMarks(marks: string): void {
    const page = pages.pop()
    if (page !== undefined) pages.push({ ...page, text: page.text === '' ? marks : `${page.text}\n${marks}` })
  }
}

const partSize = 1024 * 1024

/** A transferable copy. Copying 100 MiB at once would block the event loop for 30 ms and more. */
async function copyInParts(bytes: Uint8Array, signal: AbortSignal): Promise<ArrayBuffer> {
  const copy = new Uint8Array(bytes.length)
  for (let start = 0; start < bytes.length; start += partSize) {
    if (start > 0) await nextTurn(undefined, { signal })
    copy.set(bytes.subarray(start, start + partSize), start)
  }
  return copy.buffer
}
