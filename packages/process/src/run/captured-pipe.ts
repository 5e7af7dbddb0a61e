import type { Readable } from 'node:stream'

import { captureOutput } from './capture.ts'
import { whenSettled } from './settled.ts'
import type { CapturedOutput, OutputListener } from './types.ts'

export interface CapturePipeOptions {
  /** Bytes kept: a head and a tail. */
  readonly maxBytes: number
  /** Gets each chunk; while its promise is pending, nothing more is read. */
  readonly onChunk?: OutputListener | undefined
  /** Of the process: from here on nobody is waited for. */
  readonly ended?: AbortSignal | undefined
}

/**
 * Captures what comes on a further descriptor of a process, as its standard streams are captured. It is how a command's
 * standard error is told from that of the program that confines it.
 *
 * @returns what came, once the pipe is closed
 */
export async function capturePipe(
  pipe: Readable | undefined,
  { maxBytes, onChunk, ended }: CapturePipeOptions,
): Promise<CapturedOutput> {
  const capture = captureOutput({ maxBytes })
  if (pipe === undefined) return capture.result()
  const closed = new Promise<void>((resolve) => pipe.once('close', resolve))
  pipe.once('end', () => pipe.destroy())
  pipe.on('data', (chunk: Buffer) => {
    capture.push(chunk)
    const pending = onChunk?.(chunk)
    if (!(pending instanceof Promise) || ended?.aborted) return
    pipe.pause()
    whenSettled(pending, ended, () => void pipe.resume())
  })
  await closed
  return capture.result()
}
