import { wholeCharacters } from '../text/utf8.ts'
import type { OutputChunk } from '../contract/executor.ts'

export interface OutputKeeper<Self> {
  /** Copies the bytes that it keeps, since the caller may reuse `bytes`. */
  push(bytes: Uint8Array): void
  copy(): Self
}

/** Keeps both output streams of a command, each alone and both combined in the order of `push`. A single stream is kept only once. */
export class BothStreams<Keeper extends OutputKeeper<Keeper>> {
  readonly stdout: Keeper
  readonly stderr: Keeper
  readonly #pushers: Readonly<Record<OutputChunk['stream'], ReturnType<typeof wholeCharacters>>>
  #first: OutputChunk['stream'] = 'stdout'
  #isEmpty = true
  #both: Keeper | undefined

  constructor(create: () => Keeper) {
    this.stdout = create()
    this.stderr = create()
    this.#pushers = {
      stdout: wholeCharacters((bytes) => this.#push('stdout', bytes)),
      stderr: wholeCharacters((bytes) => this.#push('stderr', bytes)),
    }
  }

  get both(): Keeper {
    return this.#both ?? this[this.#first]
  }

  push({ stream, data }: OutputChunk): void {
    this.#pushers[stream].push(data)
  }

  /** Passes on the pending bytes of incomplete characters. */
  end(): void {
    this.#pushers.stdout.end()
    this.#pushers.stderr.end()
  }

  #push(stream: OutputChunk['stream'], bytes: Uint8Array): void {
    if (this.#isEmpty) this.#first = stream
    this.#isEmpty = false
    if (stream !== this.#first) this.#both ??= this[this.#first].copy()
    this[stream].push(bytes)
    this.#both?.push(bytes)
  }
}
