import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

import { pace } from '../messages/pace.ts'

/** Bytes passed at once. Node would parse 64 KiB at once, which takes 30 to 100 ms for chunks of one byte. */
const sliceBytes = 4 * 1024

/** Passes data to the HTTP parser in small parts. Other work gets a turn of the event loop after each part. */
export class PacedConnection extends Duplex {
  readonly #socket: Socket
  #rest: Buffer = Buffer.alloc(0)
  #isWanted = false
  #isFeeding = false
  #isEnded = false

  constructor(socket: Socket) {
    super({ readableHighWaterMark: sliceBytes, writableHighWaterMark: socket.writableHighWaterMark })
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => {
      socket.pause()
      this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
      void this.#feed()
    })
    socket.on('end', () => {
      this.#isEnded = true
      void this.#feed()
    })
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
    socket.on('timeout', () => this.emit('timeout'))
  }

  get bytesRead(): number {
    return this.#socket.bytesRead - this.#socket.readableLength - this.#rest.length
  }

  /** Milliseconds without data in either direction, after which `timeout` is emitted. */
  setTimeout(timeout: number, listener?: () => void): this {
    this.#socket.setTimeout(timeout)
    if (listener !== undefined) this.once('timeout', listener)
    return this
  }

  /** Ends the connection after the last write. Node calls this method after the last answer. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  override _read(): void {
    this.#isWanted = true
    void this.#feed()
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(bytes, done)
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  /** Never rejects: the parser reports errors by events. */
  async #feed(): Promise<void> {
    if (this.#isFeeding) return
    this.#isFeeding = true
    while (this.#isWanted && this.#rest.length > 0 && !this.destroyed) await pace.run(() => this.#pushSlice())
    this.#isFeeding = false
    if (this.#rest.length > 0 || this.destroyed) return
    if (this.#isEnded) this.push(null)
    else this.#socket.resume()
  }

  #pushSlice(): void {
    if (this.destroyed) return
    const slice = this.#rest.subarray(0, sliceBytes)
    this.#rest = this.#rest.subarray(sliceBytes)
    this.#isWanted = false
    this.push(slice)
  }
}
