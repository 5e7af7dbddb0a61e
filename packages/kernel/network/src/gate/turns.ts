import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Limit of bytes of all waiting requests: their heads, and about 1 KiB for each request's objects. */
const mostWaiting = 16 * 1024 * 1024
const objectBytes = 1024

interface Line {
  isBusy: boolean
  readonly waiting: { readonly size: number; readonly begin: () => void }[]
}

/** Handles the requests of a connection one at a time. Node emits requests as fast as they arrive. */
export class Turns {
  readonly #lines = new WeakMap<Socket, Line>()
  #waiting = 0

  /** Begins a request after all earlier answers. Returns false if too many requests wait. `response` is absent for the last request. */
  take({ socket, rawHeaders }: IncomingMessage, response: ServerResponse | undefined, work: () => void): boolean {
    // the parser continues with its buffer after the socket's end
    if (socket.destroyed) return true
    const line = this.#lineOf(socket)
    const begin = (): void => {
      line.isBusy = true
      response?.once('close', () => {
        line.isBusy = false
        const next = line.waiting.shift()
        this.#waiting -= next?.size ?? 0
        next?.begin()
      })
      if (socket.writable) work()
    }
    const size = objectBytes + rawHeaders.join('').length
    if (line.isBusy && this.#waiting + size > mostWaiting) return false // @defence a sandbox that floods or holds the gate: up to a number of bytes
    if (!line.isBusy) begin()
    else {
      line.waiting.push({ size, begin })
      this.#waiting += size
    }
    return true
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket)
    if (known !== undefined) return known
    const line: Line = { isBusy: false, waiting: [] }
    this.#lines.set(socket, line)
    socket.once('close', () => {
      for (const { size } of line.waiting.splice(0)) this.#waiting -= size
    })
    return line
  }
}
