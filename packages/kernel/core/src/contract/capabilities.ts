/**
 * How a condition is checked. `server`: by the store, against every writer. `process`: by this process, against its own writers only.
 * `none`: no check exists, so the option is `ENOTSUP`.
 */
export type ConditionScope = 'server' | 'process' | 'none'

/** The abilities of an adapter. The flag of an optional operation is true if the adapter has the method, else calls are `ENOTSUP`. */
export interface AdapterCapabilities {
  readonly readOnly: boolean
  readonly append: boolean
  readonly symlinks: boolean
  readonly chmod: boolean
  readonly utimes: boolean
  readonly search: boolean
  /** Writes may reach the store only at `flush`. False: the store contains each acknowledged write. */
  readonly flush: boolean
  /** The store tells where entries change, by any writer. */
  readonly watch: boolean
  /** Real processes can access the tree. */
  readonly hostPath: boolean
  /** A file moves in one step: readers see the file at exactly one of the two paths. */
  readonly atomicMove: boolean
  readonly atomicDirectoryMove: boolean
  /** A file needs its parent directory, and a directory cannot lie below a file. */
  readonly enforcesHierarchy: boolean
  /** A directory remains after its last entry is deleted. */
  readonly keepsEmptyDirectories: boolean
  /** The store keeps permission bits. */
  readonly modes: boolean
  /** Names that differ in case only, or in Unicode normalisation only, are two names. */
  readonly caseSensitive: boolean
  /** Names may contain control characters (U+0001 to U+001F, U+007F). False: such a name is `EINVAL`. */
  readonly controlCharacters: boolean
  /** Every change gives a new version. False: the version depends only on the content, like an ETag, so equal bytes have equal versions. */
  readonly uniqueVersions: boolean
  /** The data is lost when this process ends. Default false. */
  readonly inProcess?: boolean | undefined
  readonly conditionalWrite: ConditionScope
  readonly conditionalDelete: ConditionScope
  readonly conditionalMove: ConditionScope
  /**
   * How the adapter keeps accesses inside its root. `inherent`: the store has no outside. `verified`: each open descriptor is checked.
   * `checked`: a path is checked before use, and a race can defeat the check. `require: 'untrusted'` therefore refuses `checked`.
   */
  readonly confinement: 'inherent' | 'verified' | 'checked'
  /** Milliseconds during which a read may miss a change by another program. 0: every read is current. */
  readonly maxStaleness: number
  /** Maximum length of one name, in bytes of UTF-8. */
  readonly maxNameBytes: number
  /** Maximum length of one path, in bytes of UTF-8. */
  readonly maxPathBytes: number
}
