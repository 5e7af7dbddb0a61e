/** What {@link createMemoryAdapter} takes. */
export interface MemoryAdapterOptions {
  /** Files that are there at the start, by path from the root; their directories are made. Text is written as UTF-8. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined
  /** Every change is `EROFS`. Default false. */
  readonly readOnly?: boolean | undefined
}
