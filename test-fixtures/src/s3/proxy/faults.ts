import type { ProxiedRequest } from './request.ts'

/** A fault of one request. `when` and `acted` define whether the server has seen the request, which a client cannot know. */
export type Fault =
  /** The request waits for `ms` before it is served. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The answer's body takes `ms` in ten pieces. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** The server receives the request again, `ms` after its answer. */
  | { readonly kind: 'duplicate'; readonly ms: number }
  /** The server refuses with this S3 code (`ExpiredToken`, `RequestTimeTooSkewed`), and does nothing. */
  | { readonly kind: 'refuse'; readonly status: number; readonly code: string }
  /** An intermediary answers with an HTML page. The server sees nothing. */
  | { readonly kind: 'html'; readonly status: number }
  /** An error document replaces the answer. With `acted`, the server has carried out the request. */
  | {
      readonly kind: 'status'
      readonly status: 429 | 500 | 503
      /** `Retry-After`, in seconds. */
      readonly retryAfter?: number
      readonly acted?: boolean
    }
  /** Resets the connection: before or amid the request, or after the server acted. */
  | { readonly kind: 'reset'; readonly when: FaultTime }
  /** The connection stays open without further bytes: before the request, half through the answer, or instead of it. */
  | { readonly kind: 'hang'; readonly when: FaultTime }
  /** The body ends after this fraction (0 to 1), below the announced length. */
  | { readonly kind: 'truncate'; readonly keep: number }
  /** Body and announced length are both shortened to this fraction (0 to 1). */
  | { readonly kind: 'shorten'; readonly keep: number }
  /** Flips one bit of the body, at this fraction of its length (0 to 1, exclusive). */
  | { readonly kind: 'flip'; readonly at: number }

export type FaultTime = 'before' | 'during' | 'after'

/** Selects a request's fault; `undefined` lets the request pass. Called once for each request, in order of arrival. */
export type FaultPlan = (request: ProxiedRequest) => Fault | undefined

/** Codes of S3's error documents. */
export const statusCodes = { 429: 'TooManyRequests', 500: 'InternalError', 503: 'SlowDown' } as const
