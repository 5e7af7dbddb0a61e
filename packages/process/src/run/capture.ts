import type { CapturedOutput } from './types.ts'

export interface OutputCapture {
  /** Copies what it keeps: the chunk may be reused. */
  push(chunk: Uint8Array): void
  /** What was kept so far. */
  result(): CapturedOutput
}

/** Keeps the first and the last bytes of a stream in constant memory: at most `maxBytes`, half each. */
export function captureOutput(_options: { readonly maxBytes: number }): OutputCapture {
  throw new Error('not written yet')
}
