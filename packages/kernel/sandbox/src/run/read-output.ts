import { readSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Duplex, Readable } from 'node:stream'

import type { OutputListener } from './types.ts'

/** The read buffer of all pipes. Each chunk is handled before the next read. */
let shared: Buffer | undefined

/** Size of a buffer for the whole content of a pipe. The kernel limits the pipes of ordinary users to 1 MiB. */
const restBytes = 2 ** 21
let rest: Buffer | undefined

/** Reads a pipe into shared memory: a chunk is valid until the listener returns. @param fd the stream closes it */
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
 * Passes on the output that the pipe contains, and closes the stream. Call this when all writers of a command have ended. One read takes the
 * whole pipe, because the kernel lets no process write meanwhile. Returns true if no process can write any more.
 */
export function takeRest(stream: Readable | null | undefined): boolean {
  if (!stream || stream.destroyed) return true
  // First passes on the bytes that Node has already buffered.
  while (stream.read() !== null);
  const { fd = -1 } = (stream as { readonly _handle?: { readonly fd?: number } | null })._handle ?? {}
  rest ??= Buffer.allocUnsafeSlow(restBytes)
  const length = fd < 0 ? 0 : readNow(fd, rest)
  if (length > 0) stream.emit('data', rest.subarray(0, length))
  const isClosed = length === 0 || (length > 0 && readNow(fd, rest.subarray(0, 1)) === 0)
  stream.destroy() // @defence output that a command gives to another: a command ends when
  return isClosed
}

/** Returns the number of bytes that were read; 0 at the end; -1 if more bytes may come. */
function readNow(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer)
  } catch {
    return -1 // EAGAIN. Another error means that the stream cannot be read.
  }
}

/**
 * Reads another descriptor until it is closed, with the listener's backpressure. After `ended`, does not wait for the reader.
 * Separates a command's standard error from that of its confining program. Never rejects.
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

/** Calls `goOn` when a listener has settled or the process has ended: a stalled reader must not delay the end. */
export function whenSettled(pending: Promise<void>, ended: AbortSignal | undefined, goOn: () => void): void {
  let called = false
  const once = () => {
    if (called) return
    called = true
    ended?.removeEventListener('abort', once)
    goOn()
  }
  pending.then(once, once)
  ended?.addEventListener('abort', once, { once: true })
}

export interface Collected {
  readonly stream: Duplex | undefined
  text(): string
  /** Resolves when the text meets a condition. Never resolves if the stream ends first. */
  until(condition: (text: string) => boolean): Promise<void>
}

/** Reads a stream as text, and keeps its first 64 KiB. */
export function collect(stream: Duplex | undefined): Collected {
  let text = ''
  const checks = new Set<() => void>()
  stream?.setEncoding('utf8')
  stream?.on('error', () => undefined) // `close` follows every error
  stream?.once('end', () => stream.destroy())
  stream?.on('data', (chunk: string) => {
    if (text.length < 65_536) text += chunk
    for (const check of checks) check()
  })
  return {
    stream,
    text: () => text,
    until: (condition) =>
      new Promise((resolve) => {
        const check = () => {
          if (!condition(text)) return
          checks.delete(check)
          resolve()
        }
        checks.add(check)
        check()
      }),
  }
}
