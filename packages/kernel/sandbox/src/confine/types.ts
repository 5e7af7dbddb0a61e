/** `read`: files and listings. `write`: changing content, creating, removing and renaming, but no device nodes. `execute`: running. */
export type LandlockAccess = 'read' | 'write' | 'execute'

/** One grant. Accesses without a grant are refused. A grant cannot exclude a subtree of another grant. */
export interface LandlockRule {
  /** A host path, which is resolved at the start, or a descriptor, which a rename cannot redirect. */
  readonly source: string | { readonly fd: number }
  readonly access: readonly LandlockAccess[]
  /** Omit the rule if the path is missing. Default false: the command then does not run. */
  readonly optional?: boolean | undefined
}

export interface LandlockPolicy {
  readonly rules: readonly LandlockRule[]
  /** Refuse TCP bind and connect. Needs ABI 4: on an older kernel the command fails. Default false. */
  readonly denyTcp?: boolean | undefined
  /** The lowest accepted ABI. Default 1. */
  readonly minimumAbi?: number | undefined
}

export interface LandlockProbe {
  readonly available: boolean
  /** The version of Landlock's kernel interface; 0 if there is none. */
  readonly abi: number
  /** True from ABI 6: Landlock also refuses signals to outside processes, and connections to their abstract sockets. */
  readonly scopes: boolean
  /** Why Landlock is not available. */
  readonly reason?: string
}
