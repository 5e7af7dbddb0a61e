/** @module-tag all */
import { WorkspaceError } from '@ws/core'
import { openDocuments } from '@ws/documents'
import { textPdf } from '@ws/test-fixtures/pdf'
import { describe, expect, it } from 'vitest'

import { endlessPdf } from './support/pages.ts'

describe('a reader of documents', () => {
  it('reads a second document while the first one hangs', async () => {
    await using documents = openDocuments({ concurrency: 2 })
    const stop = new AbortController()
    const hanging = documents.pdfPages(endlessPdf(), { signal: stop.signal }).catch((error: unknown) => error)
    expect((await documents.pdfPages(textPdf(['a']))).pages).toEqual([{ number: 1, text: 'a' }])
    stop.abort(new Error('enough'))
    expect(await hanging).toEqual(new Error('enough'))
  })

  it('answers one that waits within its own limit, and reads it when the first one is ended', async () => {
    await using documents = openDocuments({ concurrency: 1 })
    const hanging = documents.pdfPages(endlessPdf(), { timeout: 2000 }).catch((error: unknown) => error)
    const waiting = documents.pdfPages(textPdf(['a']))
    await expect(documents.pdfPages(textPdf(['b']), { timeout: 300 })).rejects.toThrow(
      'ETIMEDOUT: pdfPages: the PDF waited 300 ms for others to be read; try again later',
    )
    expect(await hanging).toMatchObject({ code: 'ETIMEDOUT' })
    expect((await waiting).pages).toEqual([{ number: 1, text: 'a' }])
  })

  it('rejects with the reason of an abort, before and during the reading', async () => {
    await using documents = openDocuments()
    const reason = new Error('enough')
    await expect(documents.pdfPages(textPdf(['a']), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const stop = new AbortController()
    const reading = documents.signatures('def f(): pass', { language: 'python', signal: stop.signal })
    stop.abort(reason)
    await expect(reading).rejects.toBe(reason)
  })

  it('rejects with the reason of an abort, be it an error of a workspace, though pages were read', async () => {
    await using documents = openDocuments()
    const reason = new WorkspaceError({ code: 'ECLOSED', operation: 'read', reason: 'the workspace is closed' })
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(reason), 1500)
    const reading = documents.pdfPages(endlessPdf(['a']), { signal: stop.signal })
    await expect(reading).rejects.toBe(reason)
    clearTimeout(timer)
  })

  it('ends its threads when it is closed, and refuses more', async () => {
    const documents = openDocuments()
    const hanging = documents.pdfPages(endlessPdf()).catch((error: unknown) => error)
    await documents.signatures('', { language: 'python' })
    await documents.close()
    expect(await hanging).toMatchObject({
      message: 'ECLOSED: pdfPages: the reader of documents is closed; open another one with `openDocuments`',
    })
    await expect(documents.signatures('', { language: 'python' })).rejects.toThrow('ECLOSED: signatures:')
    await documents.close()
  })

  it('starts a new thread after the old one was idle for long', async () => {
    await using documents = openDocuments({ idleTimeout: 1, concurrency: 1 })
    for (let round = 0; round < 3; round++) {
      expect(await documents.signatures('def f(): pass', { language: 'python' })).toMatchObject({ parsed: true })
    }
  })

  it.each([
    [{ concurrency: 0 }, '`concurrency` must be an integer from 1 to 64, got `0`'],
    [{ maxMemory: 5 }, '`maxMemory` must be an integer of at least 134217728, got `5`'],
    [{ idleTimeout: 0 }, '`idleTimeout` must be an integer from 1 to 2147483647, got `0`'],
  ])('refuses %j', (options, message) => {
    expect(() => openDocuments(options)).toThrow(`EINVAL: openDocuments: ${message}`)
  })

  it.each([
    [{ pages: { first: 0 } }, '`pages.first` must be an integer of at least 1, got `0`'],
    [{ pages: { first: 3, last: 2 } }, '`pages.last` must be at least `pages.first` (3), got `2`'],
    [{ maxPages: 1001 }, '`maxPages` must be an integer from 1 to 1000, got `1001`'],
  ])('[FS4] refuses pages by %j', async (options, message) => {
    await using documents = openDocuments()
    await expect(documents.pdfPages(textPdf(['a']), options)).rejects.toThrow(`EINVAL: pdfPages: ${message}`)
  })
})
