/** A file of rclone's cache, which programs may see under another name than the cache. */
export interface Item {
  /** Where programs see it; `undefined`: nowhere, or the place is not known. */
  place: string | undefined
  /** The place that it left. */
  last?: string | undefined
  /** When its upload may begin, in milliseconds since the epoch. */
  readonly begins: number
  /** A look or a message has told its place. */
  isSure: boolean
  /** A look did not find it where it was. */
  isLost?: boolean
  /** Counts the times at which files were closed: the latest content of a place is the right one. */
  order: number
  /** It was written again. */
  isRewritten: boolean
  /** No message has told of the end of its upload. */
  isBlind?: boolean
  /** The store's object of its upload. */
  under?: string
  /** The same, once the upload has ended. */
  key: string | undefined
}

/** Paths relative to the store's part. */
export interface Expected {
  /** By place: the content that programs see there. */
  readonly latest: ReadonlyMap<string, { readonly name: string; readonly isBlind?: boolean }>
  /** Objects of this mount whose file has a known place, or none. */
  readonly keys: ReadonlySet<string>
  /** Names that a file may have whose place is not known. */
  readonly unsure: readonly string[]
}
