import { openDocuments } from '@ws/documents'
import { PDFDocument as PdfLib, PDFName, PDFString } from 'pdf-lib'
import PdfKit from 'pdfkit'
import { afterAll, describe, expect, it } from 'vitest'

const documents = openDocuments()
afterAll(() => documents.close())

async function linesOf(bytes: Uint8Array): Promise<readonly string[]> {
  const { pages, notes } = await documents.pdfPages(bytes)
  expect(notes).toEqual([])
  return pages.flatMap(({ text }) => text.split('\n'))
}

describe('a PDF of pdf-lib', () => {
  async function form(): Promise<{ readonly pdf: PdfLib; readonly page: ReturnType<PdfLib['addPage']> }> {
    const pdf = await PdfLib.create()
    const page = pdf.addPage()
    page.drawText('Order of 3 May', { x: 72, y: 720, size: 12 })
    const fields = pdf.getForm()
    const place = { x: 10, y: 10, width: 90, height: 20 }
    const city = fields.createTextField('buyer.city')
    city.setText('Bern')
    city.addToPage(page, place)
    fields.createTextField('buyer.street').addToPage(page, place)
    const agree = fields.createCheckBox('agree')
    agree.addToPage(page, place)
    agree.check()
    fields.createCheckBox('news').addToPage(page, place)
    const pay = fields.createRadioGroup('pay')
    pay.addOptionToPage('card', page, place)
    pay.addOptionToPage('cash', page, place)
    pay.select('cash')
    const land = fields.createDropdown('land')
    land.addOptions(['Germany', 'Switzerland'])
    land.select('Switzerland')
    land.addToPage(page, place)
    const toppings = fields.createOptionList('toppings')
    toppings.addOptions(['basil', 'olives', 'figs'])
    toppings.enableMultiselect()
    toppings.select(['basil', 'figs'])
    toppings.addToPage(page, place)
    return { pdf, page }
  }

  const lines = [
    'Order of 3 May',
    '[field buyer.city: Bern]',
    '[blank field buyer.street]',
    '[check box agree: checked]',
    '[check box news: not checked]',
    '[choice pay: cash (of card, cash)]',
    '[choice land: Switzerland]',
    '[choice toppings: basil, figs]',
  ]

  it('[FS4] gives the values of its form', async () => {
    const { pdf } = await form()
    expect(await linesOf(await pdf.save())).toEqual(lines)
  })

  it('[FS4] gives them without streams of objects, and behind other bytes', async () => {
    const { pdf } = await form()
    const bytes = await pdf.save({ useObjectStreams: false })
    expect(await linesOf(Buffer.concat([Buffer.from('\r\n\r\n'), bytes]))).toEqual(lines)
  })

  it('[FS4] has no fields once its form is flattened: the values are text of the page', async () => {
    const { pdf } = await form()
    pdf.getForm().flatten()
    const text = (await linesOf(await pdf.save())).join('\n')
    expect(text).toContain('Bern')
    expect(text).not.toContain('[')
  })

  it('[FS4] gives comments that were added to it', async () => {
    const pdf = await PdfLib.create()
    const page = pdf.addPage()
    page.drawText('hello world', { x: 72, y: 720, size: 12 })
    const add = (subtype: string, more: Record<string, unknown>) =>
      page.node.addAnnot(
        pdf.context.register(
          pdf.context.obj({ Type: 'Annot', Subtype: subtype, Rect: [70, 715, 110, 740], ...more } as never),
        ),
      )
    add('Text', { Contents: PDFString.of('a note'), T: PDFString.of('Ann') })
    add('Highlight', { QuadPoints: [72, 735, 98, 735, 72, 716, 98, 716], Contents: PDFString.of('why?') })
    add('FreeText', { Contents: PDFString.of('over it'), DA: PDFString.of('/Helv 9 Tf') })
    add('Stamp', { Name: PDFName.of('Draft') })
    expect(await linesOf(await pdf.save())).toEqual([
      'hello world',
      '[comment by Ann: a note]',
      '[highlight of "hello": why?]',
      '[free text: over it]',
    ])
  })
})

describe('a PDF of pdfkit', () => {
  async function made(draw: (pdf: PDFKit.PDFDocument) => void): Promise<Uint8Array> {
    const pdf = new PdfKit()
    const parts: Buffer[] = []
    pdf.on('data', (part: Buffer) => parts.push(part))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    pdf.on('end', resolve)
    pdf.on('error', reject)
    pdf.font('Helvetica').text('hello world', 72, 72)
    draw(pdf)
    pdf.end()
    await promise
    return Buffer.concat(parts)
  }

  it('[FS4] gives the values of its form', async () => {
    const bytes = await made((pdf) => {
      pdf.initForm()
      const buyer = pdf.formField('buyer')
      pdf.formText('city', 10, 10, 90, 20, { parent: buyer, value: 'Bern' })
      pdf.formText('street', 10, 40, 90, 20, { parent: buyer })
      pdf.formCombo('land', 10, 70, 90, 20, { select: ['Germany', 'Switzerland'], value: 'Switzerland' })
      pdf.formList('topping', 10, 100, 90, 40, { select: ['basil', 'olives'], value: 'olives' })
    })
    expect(await linesOf(bytes)).toEqual([
      'hello world',
      '[field buyer.city: Bern]',
      '[blank field buyer.street]',
      '[choice land: Switzerland]',
      '[choice topping: olives]',
    ])
  })

  it('[FS4] gives its notes and highlights', async () => {
    const bytes = await made((pdf) => {
      pdf.note(72, 72, 20, 20, 'a note')
      pdf.highlight(72, 72, 28, 12)
      pdf.strike(72, 72, 28, 12)
      pdf.textAnnotation(72, 200, 90, 20, 'over it')
    })
    expect(await linesOf(bytes)).toEqual([
      'hello world',
      '[comment: a note]',
      '[highlight of "hello"]',
      '[deletion of "hello"]',
      '[free text: over it]',
    ])
  })
})
