import type { Writable } from 'node:stream'

/** Waits until the other side has read everything or is gone. `once` of `node:events` would reject. */
export async function drained(stream: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done).off('error', done)
      resolve()
    }
    stream.on('drain', done).on('close', done).on('error', done)
  })
}
