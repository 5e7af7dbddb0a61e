import { openDocuments } from '@ws/documents'
import { afterAll, describe, expect, it } from 'vitest'

import { covered, fieldsOf, formPdf, markNumber, note, widget } from './support/forms.ts'

const documents = openDocuments()
afterAll(() => documents.close())

const states = (name: string) => `/AP << /N << /${name} 4 0 R /Off 4 0 R >> >>`

/** The PDF with offsets that count the bytes before the PDF, as some programs write them. */
const withOffsets = (pdf: Buffer, before: number): Buffer =>
  Buffer.from(
    pdf
      .toString('latin1')
      .replaceAll(/(\d{10})(?= 00000 n)/gu, (offset) => String(Number(offset) + before).padStart(10, '0'))
      .replace(/(?<=startxref\n)\d+/u, (offset) => String(Number(offset) + before)),
    'latin1',
  )

describe('fields and comments of a PDF', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    [
      'text fields, without passwords',
      [
        `<< ${widget} /FT /Tx /T (city) /V (Bern) >>`,
        `<< ${widget} /FT /Tx /T (street) >>`,
        `<< ${widget} /FT /Tx /Ff 4096 /T (remark) /V (one\\ntwo) >>`,
        `<< ${widget} /FT /Tx /Ff 8192 /T (secret) /V (hunter2) >>`,
      ],
      ['[field city: Bern]', '[blank field street]', '[field remark: one\ntwo]'],
    ],
    [
      'fields whose name, kind and value stand in their parent',
      [
        `<< ${widget} /Parent ${markNumber(2)} /T (first) /V (Ann) >>`,
        `<< ${widget} /Parent ${markNumber(2)} /T (last) >>`,
        `<< /FT /Tx /T (name) /V (Lee) /Kids [${markNumber(0)} ${markNumber(1)}] >>`,
      ],
      ['[field name.first: Ann]', '[field name.last: Lee]'],
    ],
    [
      'check boxes, checked or not',
      [
        `<< ${widget} /FT /Btn /T (agree) /V /Yes /AS /Yes ${states('Yes')} >>`,
        `<< ${widget} /FT /Btn /T (news) /V /Off /AS /Off ${states('Yes')} >>`,
        `<< ${widget} /Parent ${markNumber(4)} /AS /cat ${states('cat')} >>`,
        `<< ${widget} /Parent ${markNumber(4)} /AS /Off ${states('dog')} >>`,
        `<< /FT /Btn /T (pet) /V /cat /Kids [${markNumber(2)} ${markNumber(3)}] >>`,
      ],
      [
        '[check box agree: checked]',
        '[check box news: not checked]',
        '[check box pet (cat): checked]',
        '[check box pet (dog): not checked]',
      ],
    ],
    [
      'one choice of several buttons',
      [
        `<< ${widget} /Parent ${markNumber(2)} /AS /card ${states('card')} >>`,
        `<< ${widget} /Parent ${markNumber(2)} /AS /Off ${states('cash')} >>`,
        `<< /FT /Btn /Ff 49152 /T (pay) /V /card /Kids [${markNumber(0)} ${markNumber(1)}] >>`,
        `<< ${widget} /Parent ${markNumber(5)} /AS /Off ${states('air')} >>`,
        `<< ${widget} /Parent ${markNumber(5)} /AS /Off ${states('sea')} >>`,
        `<< /FT /Btn /Ff 49152 /T (send) /V /Off /Kids [${markNumber(3)} ${markNumber(4)}] >>`,
      ],
      ['[choice pay: card (of card, cash)]', '[blank choice send (of air, sea)]'],
    ],
    [
      'choices of a list, by the words that are shown',
      [
        `<< ${widget} /FT /Ch /Ff 131072 /T (land) /Opt [[(de) (Germany)] [(ch) (Switzerland)]] /V (ch) >>`,
        `<< ${widget} /FT /Ch /Ff 2097152 /T (pick) /Opt [(a) (b) (c)] /V [(b) (c)] >>`,
        `<< ${widget} /FT /Ch /Ff 393216 /T (own) /Opt [(a) (b)] /V (neither) >>`,
        `<< ${widget} /FT /Ch /Ff 131072 /T (none) /Opt [(a) (b)] >>`,
      ],
      ['[choice land: Switzerland]', '[choice pick: b, c]', '[choice own: neither]', '[blank choice none]'],
    ],
    [
      'the place of a signature, and no button',
      [`<< ${widget} /FT /Sig /T (sign) >>`, `<< ${widget} /FT /Btn /Ff 65536 /T (push) /MK << /CA (Send) >> >>`],
      ['[signature field sign]'],
    ],
    [
      'comments with their authors, and replies, without hidden ones',
      [
        `<< ${note} /Subtype /Text /Contents (a note) /T (Ann) /Popup ${markNumber(2)} >>`,
        `<< ${note} /Subtype /Text /RC (<body xmlns="http://www.w3.org/1999/xhtml"><p>in <b>bold</b></p></body>) /T (Bob) /IRT ${markNumber(0)} >>`,
        `<< ${note} /Subtype /Popup /Contents (a note) /Parent ${markNumber(0)} >>`,
        `<< ${note} /Subtype /Text /Contents (hidden) /F 2 >>`,
        `<< ${note} /Subtype /Text /Contents (not on the screen) /F 32 >>`,
        `<< ${note} /Subtype /Text /Contents () >>`,
      ],
      ['[comment by Ann: a note]', '[reply by Bob: in bold]'],
    ],
    [
      'marked words, with their comments',
      [
        `<< ${note} /Subtype /Highlight ${covered} /Contents (why?) /T (Ann) >>`,
        `<< ${note} /Subtype /Underline ${covered} >>`,
        `<< ${note} /Subtype /StrikeOut ${covered} /Contents (too long) >>`,
        `<< ${note} /Subtype /Highlight /QuadPoints [400 99 420 99 400 80 420 80] /Contents (of nothing) >>`,
      ],
      [
        '[highlight of "hello" by Ann: why?]',
        '[underline of "hello"]',
        '[deletion of "hello": too long]',
        '[highlight: of nothing]',
      ],
    ],
    [
      'free text, stamps and attached files',
      [
        `<< ${note} /Subtype /FreeText /Contents (written over it) /DA (/Helv 9 Tf) >>`,
        `<< ${note} /Subtype /Stamp /Name /Approved /Contents (approved) >>`,
        `<< ${note} /Subtype /FileAttachment /FS << /F (a.txt) /EF << /F 4 0 R >> >> /Contents (the data) >>`,
      ],
      ['[free text: written over it]', '[comment: approved]', '[attached file a.txt: the data]'],
    ],
    ['nothing', [], []],
  ])('[FS4] are read and marked: %s', async (_, marks, lines) => {
    expect(await documents.pdfPages(formPdf(marks))).toEqual({
      pageCount: 1,
      pages: [{ number: 1, text: ['hello world', ...lines].join('\n') }],
      notes: [],
    })
  })

  it.each([
    ['blanks', '\r\n \n'],
    ['a byte order mark', '\u00ef\u00bb\u00bf'],
    ['a header', 'HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n'],
    ['1,000 bytes', '#'.repeat(1000)],
  ])('[FS4] are read behind %s', async (_, before) => {
    const own = Buffer.from(formPdf([`<< ${widget} /FT /Tx /T (city) /V (Bern) >>`]))
    for (const pdf of [own, withOffsets(own, before.length)]) {
      const { pages } = await documents.pdfPages(Buffer.concat([Buffer.from(before, 'latin1'), pdf]))
      expect(pages).toEqual([{ number: 1, text: 'hello world\n[field city: Bern]' }])
    }
  })

  it('[FS4] are left out beyond 262,144 characters of a page, with their number', { tags: 'all' }, async () => {
    const { pages, notes } = await documents.pdfPages(formPdf(fieldsOf(12_000)))
    const lines = pages[0]?.text.split('\n') ?? []
    expect(lines.slice(0, 2)).toEqual(['hello world', '[field field0: value 0]'])
    expect(notes).toEqual([`${12_000 - (lines.length - 1)} more fields and comments of page 1 are left out`])
    expect(pages[0]?.text.length).toBeLessThanOrEqual(262_144 + 'hello world\n'.length)
  })

  it('[FS4] never cost the text of their page: 100,000 of them', { tags: 'deep', timeout: 90_000 }, async () => {
    const { pages, notes } = await documents.pdfPages(formPdf(fieldsOf(100_000)), { timeout: 60_000 })
    expect(pages[0]?.text).toMatch(/^hello world/u)
    expect(notes).toEqual([
      expect.stringMatching(
        /^(?:\d+ more fields and comments of page 1 are left out|reading stopped at the fields and comments of page 1: .*)$/u,
      ),
    ])
  })

  it('[FS4] that never end give the text of their page, and a note', { tags: 'all' }, async () => {
    const field = `<< ${widget} /Parent ${markNumber(1)} >>`
    const { pages, notes } = await documents.pdfPages(formPdf([field, field]), { timeout: 4000 })
    expect(pages).toEqual([{ number: 1, text: 'hello world' }])
    expect(notes).toEqual(['reading stopped at the fields and comments of page 1: the PDF was not read within 4000 ms'])
  })
})
