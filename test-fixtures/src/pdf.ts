import { constants, deflateRawSync } from 'node:zlib'

export type PdfObject = string | { readonly dictionary: string; readonly stream: Uint8Array }

/** Writes a PDF. Objects are numbered from 1; the first object is the catalog. */
export function writePdf(objects: readonly PdfObject[], trailer = ''): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let at = parts[0]?.length ?? 0
  const put = (part: string | Uint8Array) => {
    const bytes = Buffer.from(part as string)
    parts.push(bytes)
    at += bytes.length
  }
  for (const [index, object] of objects.entries()) {
    offsets.push(at)
    put(`${index + 1} 0 obj\n`)
    if (typeof object === 'string') put(object)
    else {
      put(`<< ${object.dictionary} /Length ${object.stream.length} >>\nstream\n`)
      put(object.stream)
      put('\nendstream')
    }
    put('\nendobj\n')
  }
  const start = at
  put(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`)
  put(offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join(''))
  put(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`)
  return Uint8Array.from(Buffer.concat(parts))
}

const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'

/** A PDF with one line of text on each page. The page tree has branches of 100 pages. */
export function textPdf(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  return pagesPdf(lines.map((line) => Buffer.from(`BT /F1 12 Tf 72 720 Td (${line}) Tj ET`)))
}

/** A PDF with these content streams as pages. `extra` objects are numbered from 4, for `resources`. */
export function pagesPdf(
  contents: readonly (Uint8Array | PdfObject)[],
  {
    extra = [],
    resources = '',
    trailer = '',
  }: { extra?: readonly PdfObject[]; resources?: string; trailer?: string } = {},
): Uint8Array<ArrayBuffer> {
  const branchSize = 100
  const branches = Math.ceil(contents.length / branchSize)
  const firstBranch = 4 + extra.length
  const firstPage = firstBranch + branches
  const kids = (first: number, count: number, step = 1) =>
    Array.from({ length: count }, (_, index) => `${first + index * step} 0 R`).join(' ')
  const objects: PdfObject[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${contents.length} /Kids [${kids(firstBranch, branches)}] >>`,
    font,
    ...extra,
  ]
  for (let branch = 0; branch < branches; branch++) {
    const count = Math.min(branchSize, contents.length - branch * branchSize)
    objects.push(
      `<< /Type /Pages /Parent 2 0 R /Count ${count} /Kids [${kids(firstPage + branch * branchSize * 2, count, 2)}] >>`,
    )
  }
  for (const [index, content] of contents.entries()) {
    const parent = firstBranch + Math.floor(index / branchSize)
    const own = firstPage + index * 2
    objects.push(
      `<< /Type /Page /Parent ${parent} 0 R /MediaBox [0 0 612 792] /Contents ${own + 1} 0 R /Resources << /Font << /F1 3 0 R >> ${resources} >> >>`,
      content instanceof Uint8Array ? { dictionary: '', stream: content } : content,
    )
  }
  return writePdf(objects, trailer)
}

/** A repeated pattern of up to `size` bytes, compressed to a thousandth. */
export function bomb(size: number, pattern: string): PdfObject {
  // A block that ends with a full flush can be repeated, so the whole stream is never in memory.
  const length = 1_000_000
  const block = deflateRawSync(Buffer.alloc(length, pattern), { finishFlush: constants.Z_FULL_FLUSH })
  const blocks = Array.from({ length: Math.ceil(size / length) }, () => block)
  const stream = Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, Buffer.from([0x03, 0x00])])
  return { dictionary: '/Filter /FlateDecode', stream }
}
