type Keys = Iterable<string> | AsyncIterable<string>

/** A map or table of bytes by key: a `Map`, a table of SQLite, a cache. */
export interface KeyValueStore {
  get(key: string): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** Stores the value in one step: a reader gets the old or the new value. */
  set(key: string, value: Uint8Array): unknown
  /** Removes a value. A key that is missing is not an error. */
  delete(key: string): unknown
  /** Returns each key that begins with `prefix` once, in any order. An empty prefix returns all keys. */
  keys(prefix: string): Keys | Promise<Keys>
  close?(): unknown
}
