import { checkOptions, durationShape, option, type OptionShapes } from '@ws/core/options'

const mebibyte = 1024 * 1024

export interface DocumentsOptions {
  /** Documents that are read at once; more of them wait. Each takes a thread. Default 2. */
  readonly concurrency?: number | undefined
  /** Bytes of memory that the reading of one document may take. Default 512 MiB. A PDF may have a quarter of them. */
  readonly maxMemory?: number | undefined
  /** Milliseconds after which a thread that has nothing to do is ended. Default 10,000. */
  readonly idleTimeout?: number | undefined
}

const shapes: OptionShapes<DocumentsOptions> = {
  concurrency: option.integer(1, 64),
  // The readers themselves take some 40 MiB.
  maxMemory: option.integer(128 * mebibyte),
  idleTimeout: durationShape,
}

/** @throws WorkspaceError `EINVAL` that names the option, says what it must be and what was given. */
export function resolveOptions(options: DocumentsOptions): Required<{ [Name in keyof DocumentsOptions]: number }> {
  checkOptions<DocumentsOptions>(options, shapes, { operation: 'openDocuments' })
  const { concurrency = 2, maxMemory = 512 * mebibyte, idleTimeout = 10_000 } = options
  return { concurrency, maxMemory, idleTimeout }
}
