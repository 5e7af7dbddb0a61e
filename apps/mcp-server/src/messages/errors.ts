/** A refusal of a message, with an HTTP status. On stdio, the status selects the error code. */
export class MessageError extends Error {
  readonly status: 400 | 413 | 503

  constructor(status: MessageError['status'], message: string) {
    super(message)
    this.status = status
  }
}

export function codeOf(status: number): number {
  if (status === 400) return -32_700
  return status >= 500 ? -32_603 : -32_600
}
