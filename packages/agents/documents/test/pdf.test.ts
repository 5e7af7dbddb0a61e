import { deep, longestTurn } from '@ws/test-fixtures'
import { openDocuments } from '@ws/documents'
import { bomb, pagesPdf, textPdf } from '@ws/test-fixtures/pdf'
import { afterAll, describe, expect, it } from 'vitest'

import { annotatedPdf, bombPdf, cyclicPdf, encryptedPdf, endlessPdf } from './support/pages.ts'

const documents = openDocuments()
afterAll(() => documents.close())

const mebibyte = 1024 * 1024

describe('pages of a PDF', () => {
  it('[FS4] gives the text of each page, counted from 1, and leaves the bytes as they are', async () => {
    const bytes = textPdf(['first', 'second', 'third'])
    const before = bytes.slice()
    expect(await documents.pdfPages(bytes)).toEqual({
      pageCount: 3,
      pages: [
        { number: 1, text: 'first' },
        { number: 2, text: 'second' },
        { number: 3, text: 'third' },
      ],
      notes: [],
    })
    expect(bytes).toEqual(before)
  })

  it('[FS4] gives lines as lines', async () => {
    const content = Buffer.from('BT /F1 12 Tf 72 720 Td (one) Tj 0 -20 Td (two) Tj ET')
    expect((await documents.pdfPages(pagesPdf([content]))).pages).toEqual([{ number: 1, text: 'one\ntwo' }])
  })

  it.each([
    [{ first: 2, last: 2 }, [2], []],
    [{ first: 2 }, [2, 3], []],
    [{ first: 3, last: 5 }, [3], ['pages 4–5 are beyond the end: the document has 3 pages']],
    [{ last: 4 }, [1, 2, 3], ['page 4 is beyond the end: the document has 3 pages']],
    [{ first: 9 }, [], ['page 9 is beyond the end: the document has 3 pages']],
    [{ first: 8, last: 9 }, [], ['pages 8–9 are beyond the end: the document has 3 pages']],
  ])('[FS4] of the pages %j gives %j and the notes %j', async (pages, numbers, notes) => {
    const text = await documents.pdfPages(textPdf(['a', 'b', 'c']), { pages })
    expect(text.pages.map(({ number }) => number)).toEqual(numbers)
    expect(text.notes).toEqual(notes)
    expect(text.pageCount).toBe(3)
  })

  it('[FS4] reads 1,000 of many pages, says how to go on, and never holds the event loop', {
    tags: ['all', 'rounds'],
    timeout: 150_000,
  }, async () => {
    const count = deep ? 5000 : 1100
    const bytes = textPdf(Array.from({ length: count }, (_, index) => `page ${index + 1} of many`))
    const { result, longest } = await longestTurn(() => documents.pdfPages(bytes, { timeout: 120_000 }))
    expect(result.pageCount).toBe(count)
    expect(result.pages).toHaveLength(1000)
    expect(result.pages.at(-1)).toEqual({ number: 1000, text: 'page 1000 of many' })
    expect(result.notes).toEqual(['at most 1000 pages are read at once; continue with pages from 1001'])
    expect(longest).toBeLessThan(20)
    const rest = await documents.pdfPages(bytes, { pages: { first: count - 1 } })
    expect(rest.pages.map(({ text }) => text)).toEqual([`page ${count - 1} of many`, `page ${count} of many`])
  })

  it('gives 100 MB to the thread without holding the event loop', { tags: 'deep', timeout: 90_000 }, async () => {
    const bytes = new Uint8Array(100_000_000)
    bytes.set(textPdf(['a']))
    const { result, longest } = await longestTurn(async () =>
      documents.pdfPages(bytes, { timeout: 60_000 }).catch((error: unknown) => error),
    )
    expect(result).toBeDefined()
    expect(longest).toBeLessThan(20)
  })

  it('gives the values of form fields, free text and sticky notes behind the text of a page', async () => {
    const { pages, notes } = await documents.pdfPages(annotatedPdf())
    expect(pages).toEqual([
      {
        number: 1,
        text: '[free text: free text]\n[comment: a sticky note]\n[field city: Bern]\n[blank field empty]\n[check box agree: checked]\n[choice pick: b, c]',
      },
    ])
    expect(notes).toEqual([])
  })

  it('says which pages have no text', async () => {
    const page = Buffer.from('BT /F1 12 Tf (a) Tj ET')
    const text = await documents.pdfPages(pagesPdf([page, Buffer.from(' '), Buffer.from(' '), page]))
    expect(text.pages.map(({ text: ofPage }) => ofPage)).toEqual(['a', '', '', 'a'])
    expect(text.notes).toEqual(['pages 2–3 have no text; they may be scanned'])
  })
})

describe('a PDF that is broken or hostile', () => {
  it.each([
    [
      'cyclic',
      cyclicPdf(),
      'EINVAL: pdfPages: the PDF has no page that can be read; get the file again, or ask for other pages',
    ],
    [
      'encrypted',
      encryptedPdf(),
      'EINVAL: pdfPages: the PDF is encrypted with a password; ask for a copy without a password',
    ],
    [
      'broken',
      Buffer.from('%PDF-1.7 and then nothing'),
      'EINVAL: pdfPages: the PDF is broken or cut off; get the file again, or ask for it in another format',
    ],
    [
      'cut off',
      textPdf(['a', 'b']).subarray(0, 600),
      'EINVAL: pdfPages: the PDF is broken or cut off; get the file again, or ask for it in another format',
    ],
    [
      'not a PDF',
      Buffer.from('hello'),
      'EINVAL: pdfPages: the PDF does not begin as a PDF does; read it as the type that it is',
    ],
    [
      'empty',
      Buffer.alloc(0),
      'EINVAL: pdfPages: the PDF does not begin as a PDF does; read it as the type that it is',
    ],
  ])('[FS4] that is %s is refused', async (_, bytes, message) => {
    await expect(documents.pdfPages(bytes)).rejects.toThrow(message)
  })

  it('[FS4] that has lost its end is read as far as it goes, with a note', async () => {
    const bytes = textPdf(['a', 'b'])
    const { pages, notes } = await documents.pdfPages(bytes.subarray(0, bytes.length - 8))
    expect(pages.map(({ text }) => text)).toEqual(['a', 'b'])
    expect(notes).toEqual(['the end of the file is missing: it may be cut off, and pages may be missing'])
  })

  it('[FS4] that never ends is ETIMEDOUT, names its path, and the next document is read', async () => {
    const endless = documents.pdfPages(endlessPdf(), { timeout: 300, path: '/a.pdf' })
    await expect(endless).rejects.toThrow(
      'ETIMEDOUT: pdfPages: `/a.pdf` was not read within 300 ms; raise `timeout`, or get the file in another format',
    )
    expect((await documents.pdfPages(textPdf(['next']))).pages).toEqual([{ number: 1, text: 'next' }])
  })

  it('[FS4] that never ends at its third page gives the first two, and says so', { tags: 'all' }, async () => {
    const { pages, notes } = await documents.pdfPages(endlessPdf(['a', 'b']), { timeout: 2000 })
    expect(pages.map(({ text }) => text)).toEqual(['a', 'b'])
    expect(notes).toEqual([
      'reading stopped at page 3: the PDF was not read within 2000 ms; continue with pages from 3',
    ])
  })

  it('[FS4] that is a bomb is EFBIG, in bounded memory', async () => {
    await using small = openDocuments({ maxMemory: 128 * mebibyte })
    const bytes = bombPdf()
    const before = process.memoryUsage.rss()
    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10)
    try {
      await expect(small.pdfPages(bytes, { timeout: 60_000 })).rejects.toThrow(
        'EFBIG: pdfPages: the PDF takes more than 128 MiB of memory; raise `maxMemory`, or get the file in another format',
      )
    } finally {
      clearInterval(watch)
    }
    // Doubling a buffer holds the old one and the new one for a moment.
    expect(peak - before).toBeLessThan(3 * 128 * mebibyte)
  }, 90_000)

  it('[FS4] that has a page of endless text gives the beginning, and says how to go on', {
    tags: 'all',
    timeout: 90_000,
  }, async () => {
    const page = bomb(100_000_000, 'BT /F1 9 Tf (abcdefgh) Tj ET ')
    const { pages, notes } = await documents.pdfPages(pagesPdf([page, page]), { timeout: 60_000 })
    expect(pages).toEqual([{ number: 1, text: expect.stringMatching(/^(?:abcdefgh\s?)+/u) }])
    expect(pages[0]?.text.length).toBe(262_144)
    expect(notes).toEqual([
      'page 1 is cut after 262144 characters, and the rest of it is left out',
      'reading stopped after 262144 characters; continue with pages from 2',
    ])
    // The thread is not busy with the rest of the page.
    expect((await documents.pdfPages(textPdf(['next']))).pages).toEqual([{ number: 1, text: 'next' }])
  })

  it('[FS4] that is too big is EFBIG before it is copied', async () => {
    await using small = openDocuments({ maxMemory: 128 * mebibyte })
    await expect(small.pdfPages(new Uint8Array(33 * mebibyte))).rejects.toThrow(
      'EFBIG: pdfPages: the PDF has 34603008 bytes, more than 32 MiB; split it into smaller files, or raise `maxMemory`',
    )
  })
})
