/** A file of rclone's cache, which programs may see under another name than the cache. */
export interface Item {
  /** The path where programs see the file; `undefined`: there is none, or the path is not known. */
  place: string | undefined
  /** The path that the file has left. */
  last?: string | undefined
  /** When the upload may begin, in milliseconds since the epoch. */
  readonly begins: number
  /** True if a scan or a message has reported the file's path. */
  isSure: boolean
  /** True if a scan did not find the file at its path. */
  isLost?: boolean
  /** The order in which files were closed. The last closed file has the valid content of a path. */
  order: number
  /** True if a program has written the file again. */
  isRewritten: boolean
  /** True if no message has reported the end of the upload. */
  isBlind?: boolean
  /** The name of the store's object during the upload. */
  under?: string
  /** The name of the store's object after the upload. */
  key: string | undefined
}

/** Paths relative to the store's part. */
export interface Expected {
  /** By place: the content that programs see at this place. */
  readonly latest: ReadonlyMap<string, { readonly name: string; readonly isBlind?: boolean }>
  /** Objects that this mount uploaded for files whose present place is known, or that programs can no longer see. */
  readonly keys: ReadonlySet<string>
  /** Possible names of files whose place is not known. */
  readonly unsure: readonly string[]
}
