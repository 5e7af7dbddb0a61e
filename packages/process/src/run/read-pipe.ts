import { Socket } from 'node:net'

/** The size of a pipe, and so of the largest reading. One for all: a chunk is gone before the next is read. */
let shared: Buffer | undefined

/**
 * Reads a pipe into the same memory over and over: each chunk of `data` is a window on it, and holds until the listener
 * returns. Node's own way takes new memory for each chunk, and a program that prints fast fills tens of MiB before that
 * is collected.
 *
 * @param fd is closed with the stream
 */
export function readPipe(fd: number): Socket {
  const buffer = (shared ??= Buffer.allocUnsafeSlow(65_536))
  const stream: Socket = new Socket({
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback(length) {
        stream.emit('data', buffer.subarray(0, length))
        return true
      },
    },
  })
  return stream
}
