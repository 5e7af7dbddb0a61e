import type { Readable } from 'node:stream'
import { Socket } from 'node:net'

import { whenSettled } from './settled.ts'
import type { OutputListener } from './types.ts'

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

/**
 * Reads what comes on a further descriptor of a process, as its standard streams are read: while the promise of the
 * listener is pending, nothing more is. This distinguishes a command's standard error from that of the program that
 * confines it.
 *
 * @param ended aborted at the end of the process: from here on no writer is waited for
 * @returns once the pipe is closed
 */
export async function readFurtherOutput(
  pipe: Readable | undefined,
  listener: OutputListener,
  ended: AbortSignal,
): Promise<void> {
  if (pipe === undefined) return
  const closed = new Promise<void>((resolve) => pipe.once('close', resolve))
  pipe.once('end', () => pipe.destroy())
  pipe.on('data', (chunk: Buffer) => {
    const pending = listener(chunk)
    if (!(pending instanceof Promise) || ended.aborted) return
    pipe.pause()
    whenSettled(pending, ended, () => void pipe.resume())
  })
  await closed
}
