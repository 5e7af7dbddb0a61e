import { PassThrough } from 'node:stream'

/** Passes chunks from a listener to one reader. The listener waits while much is unread, and never for a reader that has ended. */
export class Pipe extends PassThrough {
  readonly #waiting: (() => void)[] = []

  constructor() {
    super({ highWaterMark: 131_072 })
    const goOn = (): void => this.#waiting.splice(0).forEach((go) => go())
    this.on('drain', goOn).on('close', goOn)
  }

  readonly listen = (chunk: Uint8Array): Promise<void> | undefined => {
    if (this.writableEnded || this.destroyed || this.write(Buffer.from(chunk))) return undefined
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }
}
