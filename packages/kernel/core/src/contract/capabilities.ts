/**
 * The checker of a condition. `server`: the store, against every writer. `process`: this process, against its own writers only.
 * `none`: the option is `ENOTSUP`.
 */
export type ConditionScope = 'server' | 'process' | 'none'

/** The abilities and promises of an adapter. Each flag of an optional operation agrees with its method; an absent one is `ENOTSUP`. */
export interface AdapterCapabilities {
  readonly readOnly: boolean
  readonly append: boolean
  readonly symlinks: boolean
  readonly chmod: boolean
  readonly utimes: boolean
  readonly search: boolean
  /** Writes may be held back until `flush`. Without it, an acknowledged write is in the store. */
  readonly flush: boolean
  /** Real processes can see the tree. */
  readonly hostPath: boolean
  /** A file is moved in one step: readers see the file at exactly one of the two paths. */
  readonly atomicMove: boolean
  readonly atomicDirectoryMove: boolean
  /** A file needs its parent directory, and a directory cannot lie below a file. */
  readonly enforcesHierarchy: boolean
  /** A directory remains when its last entry is deleted. */
  readonly keepsEmptyDirectories: boolean
  /** Permission bits are kept. */
  readonly modes: boolean
  /** Names that differ in case only, or in Unicode normalisation only, are two names. */
  readonly caseSensitive: boolean
  /** Names may hold control characters (U+0001 to U+001F, U+007F); else such a name is `EINVAL`. */
  readonly controlCharacters: boolean
  /** Every change makes a new version. Otherwise the content determines the version, as for ETags: the same bytes have the same version. */
  readonly uniqueVersions: boolean
  /** The store ends with this process. Default false. */
  readonly inProcess?: boolean | undefined
  readonly conditionalWrite: ConditionScope
  readonly conditionalDelete: ConditionScope
  readonly conditionalMove: ConditionScope
  /**
   * How the root confines links and races. `inherent`: nothing is outside. `verified`: each descriptor is verified, also in a race.
   * `checked`: a path is checked before use. A race can defeat the check, so `require: 'untrusted'` refuses it.
   */
  readonly confinement: 'inherent' | 'verified' | 'checked'
  /** Milliseconds for which a read may miss the change of another program. 0: every read is current. */
  readonly maxStaleness: number
  /** Bytes of one name in UTF-8. */
  readonly maxNameBytes: number
  /** Bytes of one path in UTF-8. */
  readonly maxPathBytes: number
}
