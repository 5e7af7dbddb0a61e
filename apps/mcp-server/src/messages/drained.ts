import type { Writable } from 'node:stream'

/** Waits until the reader has read everything or has disconnected. `once` of `node:events` would reject. */
export async function drained(stream: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done).off('error', done)
      resolve()
    }
    stream.on('drain', done).on('close', done).on('error', done)
  })
}
