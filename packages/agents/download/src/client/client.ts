export interface ClientAnswer {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: AsyncIterable<Uint8Array>
  readonly close: () => Promise<void>
}

export interface ClientRequest {
  readonly url: URL
  readonly proxy: { readonly port: number; readonly password: string }
  readonly signal: AbortSignal
  /** Milliseconds, body included. The downloader has a shorter limit, and must end first. */
  readonly timeout: number
  readonly ca?: string | undefined
}

export interface Client {
  readonly name: 'impit' | 'undici'
  /** @throws WorkspaceError `EBACKEND` for a body that this client cannot decode */
  get(request: ClientRequest): Promise<ClientAnswer>
}

export const user = 'transfer'
