import type { Digester } from './etag-digest.ts'
import { HashThread, type Listener } from './hash-thread.ts'
import type { FromThread } from './protocol.ts'

/**
 * Hashes beside what brings the bytes: chunks are copied into pieces, which a thread takes while the next ones come. MD5 of
 * a large object would hold up the event loop for about a second per GiB.
 */
export class BackgroundDigest implements Digester, Listener {
  readonly #thread = HashThread.get()
  readonly #stream: number
  /** Pieces that came back. */
  readonly #free: ArrayBuffer[] = []
  /** Pieces there are. */
  #pieces = 0
  /** The piece that is being filled. */
  #piece: Uint8Array<ArrayBuffer> | undefined
  #filled = 0
  #isOver = false
  #failure: Error | undefined
  #pieceBack = Promise.withResolvers<void>()
  readonly #digest = Promise.withResolvers<string>()

  constructor(partBytes: number | undefined) {
    this.#digest.promise.catch(() => undefined) // nobody may ask for it
    this.#stream = this.#thread.begin(this, partBytes)
  }

  update(chunk: Uint8Array): Promise<void> | undefined {
    const taken = this.#take(chunk)
    return taken === chunk.length ? undefined : this.#takeRest(chunk.subarray(taken))
  }

  async digest(): Promise<string> {
    this.#send()
    this.#thread.tell({ stream: this.#stream, kind: 'end' })
    const digest = await this.#thread.waitFor(this.#digest.promise)
    this.#end()
    return digest
  }

  drop(): void {
    if (this.#isOver) return
    this.#thread.tell({ stream: this.#stream, kind: 'drop' })
    this.#end()
  }

  hear(answer: FromThread): void {
    if (answer.kind === 'digest') {
      this.#digest.resolve(answer.digest)
      return
    }
    this.#free.push(answer.piece)
    this.#pieceBack.resolve()
    this.#pieceBack = Promise.withResolvers()
  }

  fail(error: Error): void {
    this.#failure = error
    this.#digest.reject(error)
    this.#pieceBack.resolve()
  }

  #end(): void {
    this.#isOver = true
    this.#thread.forget(this.#stream)
  }

  /** Takes what there is room for at once, and says how much that was. */
  #take(chunk: Uint8Array): number {
    let taken = 0
    while (taken < chunk.length) {
      this.#piece ??= this.#nextPiece()
      if (this.#piece === undefined) break
      const some = chunk.subarray(taken, taken + pieceBytes - this.#filled)
      this.#piece.set(some, this.#filled)
      this.#filled += some.length
      taken += some.length
      if (this.#filled === pieceBytes) this.#send()
    }
    return taken
  }

  async #takeRest(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.length > 0; rest = rest.subarray(this.#take(rest))) {
      if (this.#free.length === 0) await this.#thread.waitFor(this.#pieceBack.promise)
      if (this.#failure !== undefined) throw this.#failure
    }
  }

  #nextPiece(): Uint8Array<ArrayBuffer> | undefined {
    const free = this.#free.pop()
    if (free !== undefined) return new Uint8Array(free)
    if (this.#pieces === piecesAtMost) return undefined
    this.#pieces += 1
    return new Uint8Array(pieceBytes)
  }

  #send(): void {
    if (this.#piece === undefined) return
    const { buffer } = this.#piece
    this.#thread.tell({ stream: this.#stream, kind: 'piece', piece: buffer, bytes: this.#filled }, [buffer])
    this.#piece = undefined
    this.#filled = 0
  }
}

/** Bytes that are handed over at once. */
const pieceBytes = 256 * 1024
/** Of one stream. */
const piecesAtMost = 4
