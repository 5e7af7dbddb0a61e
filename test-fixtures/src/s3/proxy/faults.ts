import type { ProxiedRequest } from './request.ts'

/** A fault of one request. `when` or `acted`: whether the server has seen it; a client cannot know. */
export type Fault =
  /** The request waits this long, in ms, and is then served. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The body of the answer takes this long, in ms, in ten pieces. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The network delivers the request twice: the server sees it again, this many ms after it has answered. */
  | { readonly kind: 'duplicate'; readonly ms: number }
  /** The server refuses, with this code of S3 (`ExpiredToken`, `RequestTimeTooSkewed`); it has done nothing. */
  | { readonly kind: 'refuse'; readonly status: number; readonly code: string }
  /** Something between the two answers with a page for people. The server sees nothing. */
  | { readonly kind: 'html'; readonly status: number }
  /** An error document instead of the server's answer; with `acted`, the server has done what it was asked to. */
  | {
      readonly kind: 'status'
      readonly status: 429 | 500 | 503
      /** `Retry-After`, in seconds. */
      readonly retryAfter?: number
      readonly acted?: boolean
    }
  /** The connection is reset: before or amid the request, or after the server acted, with its answer lost. */
  | { readonly kind: 'reset'; readonly when: FaultTime }
  /** The connection stays open without a byte more: before the request, half through the answer, or instead of it. */
  | { readonly kind: 'hang'; readonly when: FaultTime }
  /** The body of the answer ends after this part of it (0 to 1), below the length that was announced. */
  | { readonly kind: 'truncate'; readonly keep: number }
  /** The answer announces and holds this part (0 to 1) of its body, as if that were all. */
  | { readonly kind: 'shorten'; readonly keep: number }
  /** One bit of the answer's body is wrong, at this part of its length (0 to 1, exclusive). */
  | { readonly kind: 'flip'; readonly at: number }

export type FaultTime = 'before' | 'during' | 'after'

/** Says what goes wrong with a request; `undefined` lets it pass. Called once for each, in the order they come in. */
export type FaultPlan = (request: ProxiedRequest) => Fault | undefined

/** Codes of S3's error documents. */
export const statusCodes = { 429: 'TooManyRequests', 500: 'InternalError', 503: 'SlowDown' } as const
