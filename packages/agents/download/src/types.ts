import type { Connections } from '@ws/core'
import type { Resolve } from '@ws/network'

import type { TorOptions } from './egress/connect.ts'

export interface DownloaderOptions {
  /** Tor's SOCKS port, for servers that answer 401, 403 or 503. Default: none. */
  readonly tor?: TorOptions | undefined
  /** Use Tor for every request; without `tor`, all downloads fail. Default false. */
  readonly requireTor?: boolean | undefined
  /** Milliseconds for a whole download. Default 300,000. */
  readonly timeout?: number | undefined
  /** Milliseconds without data. Default 30,000. */
  readonly idleTimeout?: number | undefined
  /** `auto` (default): first a client that imitates a browser, if installed, then a plain client. */
  readonly client?: 'auto' | 'undici' | undefined
  /** Allowed non-public addresses and ranges (`10.0.0.0/8`). Default: none. */
  readonly addresses?: readonly string[] | undefined
  /** Resolves hosts instead of the system. */
  readonly resolve?: Resolve | undefined
}

export interface OpenOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit of bytes of decoded content. Beyond the limit, the stream fails with `EFBIG`. Default 50,000,000. */
  readonly maxBytes?: number | undefined
  /** `manual`: a redirect is the result. Default `follow`. */
  readonly redirect?: 'follow' | 'manual' | undefined
  /** Return answers of any status. Default false: statuses other than 200 to 299 are errors. */
  readonly anyStatus?: boolean | undefined
  /**
   * Judges each host, redirects included, before the name is resolved. Receives an event for each connection and refusal.
   * Default: every public host, on web ports.
   */
  readonly connections?: Connections | undefined
}

export interface Download {
  /** The decoded content. If the stream fails (a `WorkspaceError` or `signal.reason`), delete the part that you have stored. */
  readonly stream: AsyncIterableIterator<Uint8Array>
  /** The last URL, after all redirects. */
  readonly url: string
  readonly status: number
  /** The type that the server sent; without parameters if not printable or longer than 255 characters. */
  readonly contentType?: string | undefined
  /** The size that the server sent; absent for compressed content. */
  readonly size?: number | undefined
  readonly redirects: number
  /** `undici` is the plain client: the browser-like client is missing or failed. */
  readonly client: 'impit' | 'undici'
  readonly throughTor: boolean
}

export interface Downloader extends AsyncDisposable {
  /**
   * Begins a download [FS10] with up to five redirects, each checked like the first URL.
   * Rejects with `EINVAL` (the URL), `EACCES` (not public), `ENOENT` (no such host, or 404), `EBACKEND` (another answer, or no connection),
   * `ETIMEDOUT`, `EFBIG`, `ELOOP`, `ENOTSUP` (Tor is required), or with `signal.reason`.
   */
  open(url: string, options?: OpenOptions): Promise<Download>
  close(): Promise<void>
}
