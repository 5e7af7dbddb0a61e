/** A file of rclone's cache, which programs may see under another name than the cache. */
export interface Item {
  /** Where programs see it; `undefined`: nowhere, or the place is not known. */
  place: string | undefined
  /** The place that the file left. */
  last?: string | undefined
  /** When its upload may begin, in milliseconds since the epoch. */
  readonly begins: number
  /** A scan or a message has reported the file's place. */
  isSure: boolean
  /** A scan did not find the file at its place. */
  isLost?: boolean
  /** Order in which files were closed: the latest content of a place is the right one. */
  order: number
  /** The file was written again. */
  isRewritten: boolean
  /** No message has reported the end of the upload. */
  isBlind?: boolean
  /** The store's object of the upload. */
  under?: string
  /** The store's object, once the upload has ended. */
  key: string | undefined
}

/** Paths relative to the store's part. */
export interface Expected {
  /** By place: the content that programs see at this place. */
  readonly latest: ReadonlyMap<string, { readonly name: string; readonly isBlind?: boolean }>
  /** Objects of this mount whose file has a known place, or none. */
  readonly keys: ReadonlySet<string>
  /** Possible names of files whose place is not known. */
  readonly unsure: readonly string[]
}
