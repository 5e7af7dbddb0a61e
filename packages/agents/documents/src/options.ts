import { checkOptions, option, type OptionShapes } from '@ws/core/options'

const mebibyte = 1024 * 1024

export interface DocumentsOptions {
  /** Limit of documents read at the same time, each in a thread. Further documents wait. Default 2. */
  readonly concurrency?: number | undefined
  /** Bytes of memory for one document. Default 512 MiB. The size of a PDF may be a quarter of this memory. */
  readonly maxMemory?: number | undefined
  /** Milliseconds until an idle thread ends. Default 10,000. */
  readonly idleTimeout?: number | undefined
}

const shapes: OptionShapes<DocumentsOptions> = {
  concurrency: option.integer(1, 64),
  // The readers themselves take some 40 MiB.
  maxMemory: option.integer(128 * mebibyte),
  idleTimeout: option.duration,
}

export function resolveOptions(options: DocumentsOptions): Required<{ [Name in keyof DocumentsOptions]: number }> {
  checkOptions<DocumentsOptions>(options, shapes, { operation: 'openDocuments' })
  const { concurrency = 2, maxMemory = 512 * mebibyte, idleTimeout = 10_000 } = options
  return { concurrency, maxMemory, idleTimeout }
}
