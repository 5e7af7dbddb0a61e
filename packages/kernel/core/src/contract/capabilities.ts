/**
 * The checker of a condition. `server`: the store itself, against every writer. `process`: this process, against its own
 * writers; other processes, commands included, are not covered. `none`: there is no check, and the option is `ENOTSUP`.
 */
export type ConditionScope = 'server' | 'process' | 'none'

/**
 * The abilities and promises of an adapter, as plain data. The workspace, the layers and the conformance kit read it;
 * for each optional operation the flag and the method agree, and an absent one is `ENOTSUP`.
 */
export interface AdapterCapabilities {
  /** Every operation that changes something is `EROFS`. */
  readonly readOnly: boolean
  /** `append` is there. */
  readonly append: boolean
  /** `createSymlink` and `readSymlink` are there, and links in the store are seen as links. */
  readonly symlinks: boolean
  /** `chmod` is there, and `stat` gives the bits back. */
  readonly chmod: boolean
  /** `utimes` is there, and `stat` gives the time back. */
  readonly utimes: boolean
  /** `search` is there. */
  readonly search: boolean
  /** `flush` is there: a write may be held back until then. Without it, an acknowledged write is in the store. */
  readonly flush: boolean
  /** `hostPath` and `hostDirectory` are there: real processes can see the tree. */
  readonly hostPath: boolean
  /** A file is moved in one step: readers see it at one of the two places. */
  readonly atomicMove: boolean
  /** A directory is moved in one step. */
  readonly atomicDirectoryMove: boolean
  /** A file needs its parent directory, and a directory cannot lie below a file. */
  readonly enforcesHierarchy: boolean
  /** A directory stays when its last entry goes. */
  readonly keepsEmptyDirectories: boolean
  /** Permission bits are kept. */
  readonly modes: boolean
  /** Names that differ in case only, or in Unicode normalisation only, are two names. */
  readonly caseSensitive: boolean
  /** Names may hold control characters (U+0001 to U+001F, U+007F); else such a name is `EINVAL`. */
  readonly controlCharacters: boolean
  /**
   * Every change makes a version that was never there before. Else a version follows from the content, as ETags do: it
   * stays when the same bytes are written again, and comes back with them.
   */
  readonly uniqueVersions: boolean
  /** The store ends with this process: no other one can reach it. Default false. */
  readonly inProcess?: boolean | undefined
  readonly conditionalWrite: ConditionScope
  readonly conditionalDelete: ConditionScope
  readonly conditionalMove: ConditionScope
  /**
   * How links and races are kept from leading outside: `inherent` (there is no outside), `verified` (each descriptor is
   * verified before use; holds under a race), or `checked` (checked before use; a race can win, so `require: 'untrusted'`
   * refuses it).
   */
  readonly confinement: 'inherent' | 'verified' | 'checked'
  /**
   * The greatest age, in milliseconds, of a state that is read after another program changed the store. 0: never old.
   */
  readonly maxStaleness: number
  /** Bytes of one name in UTF-8. */
  readonly maxNameBytes: number
  /** Bytes of one path in UTF-8. */
  readonly maxPathBytes: number
}
