import type { ErrorCode } from '@ws/core'
import type { Language } from '../languages.ts'

export interface PdfPage {
  /** From 1. */
  readonly number: number
  /** Lines end with LF. Empty for a page without text. */
  readonly text: string
}

export interface Signature {
  /** From 1. */
  readonly line: number
  /** One line without the body: `async def run(self, n: int) -> str`. At most 300 characters. */
  readonly text: string
  /** 0 at the top of the file, 1 for a member. */
  readonly depth: number
}

export interface PdfRequest {
  readonly kind: 'pdf'
  readonly bytes: ArrayBuffer
  /** From 1. */
  readonly first: number
  /** `undefined` for the last page. */
  readonly last: number | undefined
  readonly maxPages: number
}

export interface SignatureRequest {
  readonly kind: 'signatures'
  readonly source: string
  readonly language: Language
  readonly parseTime: number
}

export interface MarkdownRequest {
  readonly kind: 'markdown'
  readonly html: string
  readonly url: string
}

/** `more` requests the next part of the last PDF. The thread sends a page, or its fields and comments, for each request. */
export type Request = PdfRequest | SignatureRequest | MarkdownRequest | { readonly kind: 'more' }

/** `spent`: do not use the thread again, because the thread is still busy or its memory may be damaged. */
interface Ending {
  readonly spent: boolean
}

export interface PageAnswer extends Ending {
  readonly kind: 'page'
  readonly pageCount: number
  /** Absent for the fields and comments, and after the last page. */
  readonly page?: PdfPage
  /** The fields and comments of the last page, one each line. Empty for none. */
  readonly marks?: string
  readonly broken: boolean
  readonly notes: readonly string[]
  readonly done: boolean
}

export interface SignaturesAnswer extends Ending {
  readonly kind: 'signatures'
  readonly signatures: readonly Signature[]
  readonly parsed: boolean
  readonly truncated: boolean
  readonly method: 'parser' | 'patterns'
  readonly missing?: typeof parserPackage
}

/** Users install this package themselves, because of its 22 MB. */
export const parserPackage = '@vscode/tree-sitter-wasm'

export interface MarkdownAnswer {
  readonly kind: 'markdown'
  readonly text: string
}

/** The answer for a faulty document. `state` completes the sentence "the PDF …". */
export interface FailedAnswer {
  readonly kind: 'failed'
  readonly code: ErrorCode
  readonly state: string
  readonly remedy: string
}

export type Answer = PageAnswer | SignaturesAnswer | MarkdownAnswer | FailedAnswer
