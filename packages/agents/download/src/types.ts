import type { Connections } from '@ws/core'
import type { Resolve } from '@ws/network'

import type { TorOptions } from './egress/connect.ts'

export interface DownloaderOptions {
  /** Tor's SOCKS port, for servers that refuse with 401, 403 or 503. Default: none. */
  readonly tor?: TorOptions | undefined
  /** Everything goes through Tor; without `tor`, nothing is fetched. Default false. */
  readonly requireTor?: boolean | undefined
  /** Milliseconds for a download altogether. Default 300,000. */
  readonly timeout?: number | undefined
  /** Milliseconds in which nothing comes. Default 30,000. */
  readonly idleTimeout?: number | undefined
  /** `auto` (default): a client that speaks as a browser does, where it is installed, then a plain one. */
  readonly client?: 'auto' | 'undici' | undefined
  /** Addresses and ranges (`10.0.0.0/8`) that hosts may have beside public ones. Default: none. */
  readonly addresses?: readonly string[] | undefined
  /** Gives the addresses of a host, in place of the system's resolver. */
  readonly resolve?: Resolve | undefined
}

export interface OpenOptions {
  readonly signal?: AbortSignal | undefined
  /** Bytes of the decoded content at most. Default 50,000,000. More of them end the stream with `EFBIG`. */
  readonly maxBytes?: number | undefined
  /** `manual`: an answer that leads elsewhere is the result. Default `follow`. */
  readonly redirect?: 'follow' | 'manual' | undefined
  /** An answer with any status is a result. Default false: only 200 to 299 are, and the others are errors. */
  readonly anyStatus?: boolean | undefined
  /**
   * Judges each host, of the first URL and of redirects, before its name is looked up, here or through Tor. It is told of each
   * connection and of each refusal. Default: every public host, at ports of web servers.
   */
  readonly connections?: Connections | undefined
}

export interface Download {
  /** The content, decoded. It fails with a `WorkspaceError`, or with `signal.reason`; then remove what was kept of it. */
  readonly stream: AsyncIterableIterator<Uint8Array>
  /** The last URL, after all redirects. */
  readonly url: string
  readonly status: number
  /** The server's type, where printable and at most 255 characters long; else without parameters. */
  readonly contentType?: string | undefined
  /** The size that the server promised, where it did, and the content is not compressed. */
  readonly size?: number | undefined
  readonly redirects: number
  /** `undici` means a plain client: the browser-like client is missing, or failed. */
  readonly client: 'impit' | 'undici'
  readonly throughTor: boolean
}

export interface Downloader extends AsyncDisposable {
  /**
   * Begins a download [FS10]. Follows up to five redirects, each checked as the first URL. Rejects with `EINVAL` (the
   * URL), `EACCES` (not public), `ENOENT` (no such host, or 404), `EBACKEND` (another answer, or no connection),
   * `ETIMEDOUT`, `EFBIG`, `ELOOP`, `ENOTSUP` (Tor is required), or with `signal.reason`.
   */
  open(url: string, options?: OpenOptions): Promise<Download>
  /** Ends every download. */
  close(): Promise<void>
}
