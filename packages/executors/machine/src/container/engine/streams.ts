import type { Socket } from 'node:net'

import type { AttendantStream } from '../../attendant/stream.ts'
import type { Attached } from './client.ts'

const headBytes = 8

/** The streams of a container's first process, over a connection to the engine. */
export function containerStream({ socket, head }: Attached): AttendantStream {
  socket.on('error', () => undefined) // its end is reported
  socket.setNoDelay(true)
  socket.unref()
  return {
    async write(bytes) {
      if (socket.destroyed) throw new Error('the connection is closed')
      if (!socket.write(bytes)) await oneOf(socket, 'drain', 'close')
    },
    // with its input, the first process of the container ends
    end: () => void socket.destroy(),
    output: pieces(socket, head),
    hold: (isBusy) => void (isBusy ? socket.ref() : socket.unref()),
  }
}

/** Takes the pieces of standard output out of Docker's stream: 8 bytes of header, then a piece. */
async function* pieces(socket: Socket, head: Buffer): AsyncGenerator<Buffer> {
  let rest = head
  while (true) {
    while (rest.length >= headBytes) {
      const end = headBytes + rest.readUInt32BE(4)
      if (rest.length < end) break
      if (rest[0] === 1) yield rest.subarray(headBytes, end)
      rest = rest.subarray(end)
    }
    const chunk = await next(socket)
    if (chunk === undefined) return
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
  }
}

async function next(socket: Socket): Promise<Buffer | undefined> {
  while (true) {
    const chunk = socket.read() as Buffer | null
    if (chunk !== null) return chunk
    if (socket.readableEnded || socket.destroyed) return undefined
    await oneOf(socket, 'readable', 'end', 'close')
  }
}

/** Resolves with the first of these events. */
async function oneOf(socket: Socket, ...events: readonly string[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const event of events) socket.on(event, resolve)
  await promise
  for (const event of events) socket.off(event, resolve)
}
