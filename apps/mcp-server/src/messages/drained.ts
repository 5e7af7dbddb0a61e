import type { Writable } from 'node:stream'

/**
 * Waits until the other side has taken what was written, or has gone. Not by `once` of `node:events`, which rejects where
 * that side has refused the rest.
 */
export async function drained(stream: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done).off('error', done)
      resolve()
    }
    stream.on('drain', done).on('close', done).on('error', done)
  })
}
