import type { Readable } from 'node:stream'

import { whenSettled } from './settled.ts'
import type { OutputListener } from './types.ts'

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
