import type { ErrorCode } from '@ws/core'
import type { Language } from '../languages.ts'

export interface PdfPage {
  /** From 1. */
  readonly number: number
  /** Lines end with LF. Empty for a page without text. */
  readonly text: string
}

/** One class, function or type of a source. */
export interface Signature {
  /** From 1. */
  readonly line: number
  /** Without the body, on one line: `async def run(self, n: int) -> str`. At most 300 characters. */
  readonly text: string
  /** 0 at the top of the file, 1 for a member. */
  readonly depth: number
}

export interface PdfRequest {
  readonly kind: 'pdf'
  readonly bytes: ArrayBuffer
  /** From 1. */
  readonly first: number
  /** `undefined`: up to the last page. */
  readonly last: number | undefined
  readonly maxPages: number
}

export interface SignatureRequest {
  readonly kind: 'signatures'
  readonly source: string
  readonly language: Language
  /** Milliseconds that the parser may take. */
  readonly parseTime: number
}

export interface MarkdownRequest {
  readonly kind: 'markdown'
  readonly html: string
  /** The URL of the page, which resolves its links. */
  readonly url: string
}

/** `more`: the next page of the PDF that was sent last. A PDF is answered page by page, each on request. */
export type Request = PdfRequest | SignatureRequest | MarkdownRequest | { readonly kind: 'more' }

/** An answer after which the thread is not used again: it works on, or its memory may be damaged. */
interface Ending {
  readonly spent: boolean
}

export interface PageAnswer extends Ending {
  readonly kind: 'page'
  readonly pageCount: number
  /** Absent in an answer after the last page. */
  readonly page?: PdfPage
  /** The page cannot be read, and has no text for this reason. */
  readonly broken: boolean
  readonly notes: readonly string[]
  /** No answer follows. */
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

/** The parser of signatures, which its users install themselves: it has 22 MB. */
export const parserPackage = '@vscode/tree-sitter-wasm'

export interface MarkdownAnswer {
  readonly kind: 'markdown'
  readonly text: string
}

/** The document is at fault. `state` completes "the PDF …". */
export interface FailedAnswer {
  readonly kind: 'failed'
  readonly code: ErrorCode
  readonly state: string
  readonly remedy: string
}

export type Answer = PageAnswer | SignaturesAnswer | MarkdownAnswer | FailedAnswer
