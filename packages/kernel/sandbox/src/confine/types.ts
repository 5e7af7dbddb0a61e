/** `read`: files and listings. `write`: content, creating, removing, renaming (no device nodes). `execute`: running. */
export type LandlockAccess = 'read' | 'write' | 'execute'

/** One grant. Everything that no grant covers is refused; a grant cannot take a subtree out of another. */
export interface LandlockRule {
  /** A host path (resolved by the loader when it starts), or a descriptor of this process, which no rename can change. */
  readonly source: string | { readonly fd: number }
  readonly access: readonly LandlockAccess[]
  /** Leave the rule out if the path is missing. Default false: a missing path is a failure, and nothing runs. */
  readonly optional?: boolean | undefined
}

export interface LandlockPolicy {
  readonly rules: readonly LandlockRule[]
  /** Refuse TCP bind and connect (ABI 4; a failure on older kernels). Default false. */
  readonly denyTcp?: boolean | undefined
  /** The lowest ABI that will do. Default 1. */
  readonly minimumAbi?: number | undefined
}

export interface LandlockProbe {
  readonly available: boolean
  /** Version of the kernel's interface, 0 if there is none. */
  readonly abi: number
  /** True from ABI 6: signals to processes outside, and abstract unix sockets of theirs, are refused too. */
  readonly scopes: boolean
  /** Why it is not available. */
  readonly reason?: string
}
