import type { CommandInput } from '../contract/executor.ts'
import { virtualError } from '../mount/errors.ts'

interface Waiting {
  readonly chunk: Uint8Array
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Carries the caller's writes to the command, one chunk at a time. An executor reads the pipe as any standard input. */
export class InputPipe implements CommandInput, AsyncIterable<Uint8Array> {
  readonly #waiting: Waiting[] = []
  /** The chunk that the command has taken. Its promise settles when the command reads the next chunk. */
  #taken: Waiting | undefined
  #reader: ((result: IteratorResult<Uint8Array>) => void) | undefined
  #state: 'open' | 'ended' | 'closed' = 'open'

  writeInput(data: string | Uint8Array): Promise<void> {
    if (this.#state !== 'open') return inputClosed()
    const chunk = typeof data === 'string' ? new TextEncoder().encode(data) : data
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // A write that the caller does not await must not end this process.
    promise.catch(() => undefined)
    this.#waiting.push({ chunk, resolve, reject })
    this.#hand()
    return promise
  }

  endInput(): void {
    if (this.#state === 'open') this.#state = 'ended'
    this.#hand()
  }

  close(): void {
    this.#state = 'closed'
    const lost = this.#taken === undefined ? this.#waiting : [this.#taken, ...this.#waiting]
    for (const { reject } of lost) reject(closedError())
    this.#taken = undefined
    this.#waiting.length = 0
    this.#hand()
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => {
        this.#taken?.resolve()
        this.#taken = undefined
        return new Promise((resolve) => {
          this.#reader = resolve
          this.#hand()
        })
      },
      return: async () => {
        this.close()
        return { done: true, value: undefined }
      },
    }
  }

  #hand(): void {
    const reader = this.#reader
    if (reader === undefined) return
    this.#taken = this.#waiting.shift()
    if (this.#taken === undefined && this.#state === 'open') return
    this.#reader = undefined
    reader(this.#taken === undefined ? { done: true, value: undefined } : { done: false, value: this.#taken.chunk })
  }
}

export const closedInput: CommandInput = { writeInput: () => inputClosed(), endInput: () => undefined }

function inputClosed(): Promise<never> {
  const refused = Promise.reject(closedError())
  refused.catch(() => undefined) // a caller that does not await the write needs no error
  return refused
}

function closedError(): Error {
  return virtualError({
    code: 'ECLOSED',
    operation: 'writeInput',
    reason: 'the standard input of the command is closed',
    remedy: 'start the command with `writableStdin: true`, and write before `endInput` and before it ends',
  })
}
