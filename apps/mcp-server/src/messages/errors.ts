/** A message that is refused, with its status over HTTP. Over standard input and output, the status chooses the code. */
export class MessageError extends Error {
  readonly status: 400 | 413 | 503

  constructor(status: MessageError['status'], message: string) {
    super(message)
    this.status = status
  }
}

/** The code of JSON-RPC for a status of HTTP. */
export function codeOf(status: number): number {
  if (status === 400) return -32_700
  return status >= 500 ? -32_603 : -32_600
}
