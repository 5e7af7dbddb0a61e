import { bomb, pagesPdf, writePdf, type PdfObject } from '@ws/test-fixtures/pdf'

/** A page tree that contains itself. */
export function cyclicPdf(): Uint8Array {
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 3 /Kids [3 0 R 3 0 R] >>',
    '<< /Type /Pages /Parent 2 0 R /Count 3 /Kids [2 0 R 2 0 R] >>',
  ])
}

const text = (line: string) => Buffer.from(`BT /F1 12 Tf 72 720 Td (${line}) Tj ET`)

/** Pages whose last one draws a form of ten forms of ten forms, and so on: a thousand billion in all. */
export function endlessPdf(linesBefore: readonly string[] = []): Uint8Array {
  const levels = 12
  const forms = Array.from({ length: levels }, (_, level): PdfObject => {
    const content = level === levels - 1 ? 'BT /F1 9 Tf (x) Tj ET' : `/X${level + 1} Do `.repeat(10)
    const resources = `/XObject << /X${level + 1} ${5 + level} 0 R >> /Font << /F1 3 0 R >>`
    return {
      dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${resources} >>`,
      stream: Buffer.from(content),
    }
  })
  return pagesPdf([...linesBefore.map(text), Buffer.from('/X0 Do')], {
    extra: forms,
    resources: '/XObject << /X0 4 0 R >>',
  })
}

/** A page whose content is 400 MB of spaces, in a thousandth of that. */
export function bombPdf(): Uint8Array {
  return pagesPdf([bomb(400_000_000, ' ')])
}

/** A PDF that needs a password. The key fits no password. */
export function encryptedPdf(): Uint8Array {
  const key = `<${'ab'.repeat(32)}>`
  const encrypt = `/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O ${key} /U ${key} >>`
  return pagesPdf([text('secret')], { trailer: `${encrypt} /ID [<${'01'.repeat(16)}> <${'01'.repeat(16)}>]` })
}

/** A page without text of its own, with fields of a form and comments. */
export function annotatedPdf(): Uint8Array {
  const widget = '/Type /Annot /Subtype /Widget /Rect [0 0 9 9] /F 4'
  const note = '/Type /Annot /Rect [0 0 9 9]'
  const marks = [
    `<< ${widget} /FT /Tx /T (city) /V (Bern) >>`,
    `<< ${widget} /FT /Tx /T (empty) >>`,
    `<< ${widget} /FT /Tx /T (secret) /V (hunter2) /Ff 8192 >>`,
    `<< ${widget} /FT /Btn /T (agree) /V /Yes /AS /Yes >>`,
    `<< ${widget} /FT /Ch /T (pick) /Ff 2097152 /Opt [(a) (b) (c)] /V [(b) (c)] >>`,
    `<< ${note} /Subtype /FreeText /Contents (free text) /DA (/Helv 9 Tf) >>`,
    `<< ${note} /Subtype /Text /Contents (a sticky note) /Popup 13 0 R >>`,
    `<< ${note} /Subtype /Text /Contents (hidden) /F 2 >>`,
    `<< ${note} /Subtype /Popup /Contents (a sticky note) /Parent 11 0 R >>`,
  ]
  const kids = marks.map((_, index) => `${5 + index} 0 R`).join(' ')
  return writePdf([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${kids}] >> >>`,
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Annots [${kids}] >>`,
    { dictionary: '', stream: Buffer.from(' ') },
    ...marks,
  ])
}
