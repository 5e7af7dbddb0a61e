/** `read`: files and listings. `write`: content, creating, removing, renaming (no device nodes). `execute`: running. */
export type LandlockAccess = 'read' | 'write' | 'execute'

/** One grant. Everything else is refused; a grant cannot exclude a subtree of another. */
export interface LandlockRule {
  /** A host path, resolved at the start, or a descriptor, which no rename can change. */
  readonly source: string | { readonly fd: number }
  readonly access: readonly LandlockAccess[]
  /** Omit the rule if the path is missing. Default false: the command does not run. */
  readonly optional?: boolean | undefined
}

export interface LandlockPolicy {
  readonly rules: readonly LandlockRule[]
  /** Refuse TCP bind and connect (ABI 4; a failure on older kernels). Default false. */
  readonly denyTcp?: boolean | undefined
  /** The lowest ABI that is accepted. Default 1. */
  readonly minimumAbi?: number | undefined
}

export interface LandlockProbe {
  readonly available: boolean
  /** Version of the kernel's interface, 0 if there is none. */
  readonly abi: number
  /** From ABI 6: also refuses signals to outside processes, and their abstract sockets. */
  readonly scopes: boolean
  /** Why Landlock is not available. */
  readonly reason?: string
}
