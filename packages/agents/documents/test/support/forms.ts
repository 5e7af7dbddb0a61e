import { writePdf } from '@ws/test-fixtures/pdf'

const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
const firstMark = 6

/** The number of a mark among the objects of {@link formPdf}. */
export const markNumber = (index: number): string => `${firstMark + index} 0 R`

export const widget = '/Type /Annot /Subtype /Widget /Rect [0 0 9 9] /F 4 /P 3 0 R'
export const note = '/Type /Annot /Rect [70 715 110 740] /P 3 0 R'
/** Covers the first word of the page's line. */
export const covered = '/QuadPoints [72 735 98 735 72 716 98 716]'

/** A page with the line `hello world` and these fields and comments. A stream, `4 0 R`, serves as file and appearance. */
export function formPdf(marks: readonly string[], { line = 'hello world' } = {}): Uint8Array<ArrayBuffer> {
  const kids = marks.map((_, index) => markNumber(index)).join(' ')
  return writePdf([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${kids}] >> >>`,
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [${kids}] /Resources << /Font << /F1 5 0 R >> >> >>`,
    { dictionary: '', stream: Buffer.from(`BT /F1 12 Tf 72 720 Td (${line}) Tj ET`) },
    font,
    ...marks,
  ])
}

export const fieldsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `<< ${widget} /FT /Tx /T (field${index}) /V (value ${index}) >>`)
