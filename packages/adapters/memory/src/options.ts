import { checkOption, checkOptions, option, type OptionShape, type OptionShapes } from '@ws/core/options'

export interface MemoryAdapterOptions {
  /**
   * Entries at the start, by path from the root, with missing parents.
   *
   * - `'/a.txt': 'text'`, or bytes: a file. Text is UTF-8.
   * - `'/a.txt': { content, mode, modifiedAt }`: a file with permission bits or a time.
   * - `'/empty/': ''`, `'/d/': { mode, modifiedAt }`: a directory; its path ends in `/`.
   * - `'/l': { target: 'a.txt' }`: a link.
   */
  readonly files?: Readonly<Record<string, string | Uint8Array | MemoryEntry>> | undefined
  /** Every change is `EROFS`. Default false. */
  readonly readOnly?: boolean | undefined
  /** A clock for tests, which sets `modifiedAt`: milliseconds since the epoch, never below 0. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

export interface MemoryEntry {
  /** A file's content. Default: empty. */
  readonly content?: string | Uint8Array | undefined
  readonly target?: string | undefined
  /** Permission bits. Default `0o644` for a file and `0o755` for a directory. */
  readonly mode?: number | undefined
  /** Milliseconds since the epoch. Default: now. */
  readonly modifiedAt?: number | undefined
}

const operation = 'createMemoryAdapter'

const context = { operation }
const shapes: OptionShapes<MemoryAdapterOptions> = {
  files: option.object,
  readOnly: option.boolean,
  now: option.function,
}

const content = option.of('a string or a Uint8Array', isContent)
const mode: OptionShape = { ...option.integer(0, 0o777), must: 'permission bits from 0 to 0o777' }
const modifiedAt = option.integer(0, 8.64e15)

const file: OptionShapes<Omit<MemoryEntry, 'target'>> = { content, mode, modifiedAt }
const directory: OptionShapes<Omit<MemoryEntry, 'target' | 'content'>> = { mode, modifiedAt }
const link: OptionShapes<Omit<MemoryEntry, 'mode' | 'content'>> = { target: option.required(option.text), modifiedAt }

export function checkMemoryOptions(options: unknown): asserts options is MemoryAdapterOptions | undefined {
  checkOptions<MemoryAdapterOptions>(options, shapes, context)
  if (options?.files !== undefined) checkFiles(options.files)
}

function checkFiles(files: NonNullable<MemoryAdapterOptions['files']>): void {
  for (const [path, entry] of Object.entries(files)) {
    const name = `files['${path}']`
    if (path.endsWith('/')) {
      if (entry === '') continue
      checkOption(
        operation,
        name,
        entry,
        option.options(directory, 'an empty string or `{ mode, modifiedAt }`: it names a directory'),
      )
    } else if (!isContent(entry)) {
      const isLink = typeof entry === 'object' && entry !== null && Object.hasOwn(entry, 'target')
      const must = 'a string, a Uint8Array, `{ content, mode, modifiedAt }` or `{ target }`'
      checkOption(operation, name, entry, isLink ? option.options(link, must) : option.options(file, must))
    }
  }
}

function isContent(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array
}
