type Keys = Iterable<string> | AsyncIterable<string>

/** A map or table of bytes by key: a `Map`, a table of SQLite, a cache. */
export interface KeyValueStore {
  get(key: string): Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** In one step. */
  set(key: string, value: Uint8Array): unknown
  /** Removes a value. A key that is missing is not an error. */
  delete(key: string): unknown
  /** The keys that begin with this text, each once, in any order. All keys for an empty text. */
  keys(prefix: string): Keys | Promise<Keys>
  close?(): unknown
}
