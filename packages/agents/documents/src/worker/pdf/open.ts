import type { ErrorCode } from '@ws/core'
import { getDocument, type PDFDocumentProxy } from 'unpdf/pdfjs'

/** A fault of the document, not of the reader. `state` completes the sentence "the PDF …". */
export class DocumentFault extends Error {
  readonly code: ErrorCode
  readonly state: string
  readonly remedy: string

  constructor(code: ErrorCode, state: string, remedy: string) {
    super(state)
    this.code = code
    this.state = state
    this.remedy = remedy
  }
}

export interface OpenPdf {
  readonly document: PDFDocumentProxy
  readonly notes: string[]
}

export async function openPdf(buffer: ArrayBuffer): Promise<OpenPdf> {
  const data = new Uint8Array(buffer)
  if (!latin1(data.subarray(0, 1024)).includes('%PDF-')) {
    throw new DocumentFault('EINVAL', 'does not begin as a PDF does', 'read it as the type that it is')
  }
  const notes = latin1(data.subarray(-1024)).includes('%%EOF')
    ? []
    : ['the end of the file is missing: it may be cut off, and pages may be missing']
  const missingMaps = new Set<string>()
  /** Fetches nothing from network or disk. */
  class NoData {
    fetch({ kind, filename }: { readonly kind: string; readonly filename: string }): Promise<never> {
      if (kind === 'cMapUrl' && !missingMaps.has(filename)) {
        missingMaps.add(filename)
        notes.push(`text in the character map ${filename} is left out: the map is not supported`)
      }
      return Promise.reject(new Error('not available'))
    }
  }
  try {
    const { promise } = getDocument({
      data,
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      BinaryDataFactory: NoData,
    })
    return { document: await promise, notes }
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw new DocumentFault('EINVAL', 'is encrypted with a password', 'ask for a copy without a password')
    }
    throw new DocumentFault('EINVAL', 'is broken or cut off', 'get the file again, or ask for it in another format')
  }
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
