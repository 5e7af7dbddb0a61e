/** The answer to one request, redirects not followed, its body decoded. */
export interface ClientAnswer {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: AsyncIterable<Uint8Array>
  /** Releases its connections. */
  readonly close: () => Promise<void>
}

export interface ClientRequest {
  readonly url: URL
  readonly proxy: { readonly port: number; readonly password: string }
  readonly signal: AbortSignal
  /** Milliseconds, body included. The downloader counts them too: this keeps a client from giving up earlier. */
  readonly timeout: number
  /** Certificates that are trusted besides those of the system. For tests alone. */
  readonly ca?: string | undefined
}

export interface Client {
  readonly name: 'impit' | 'undici'
  /** @throws WorkspaceError `EBACKEND` for a body that this client would give back encoded */
  get(request: ClientRequest): Promise<ClientAnswer>
}

export const user = 'transfer'
