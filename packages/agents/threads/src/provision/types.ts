import type { StorageAdapter } from '@ws/core/adapter'

export type PartName = '.venv' | '.bashrc' | '.profile' | 'package.json' | 'template'

/** A part that was not made, and why. */
export interface LeftOut {
  readonly part: PartName
  /** Follows the part's name in a sentence. */
  readonly reason: string
}

export interface ProvisionEvent {
  readonly threadId: string
  readonly part: PartName
  readonly state: 'started' | 'made' | 'kept' | 'left out'
  readonly reason?: string | undefined
}

export interface ThreadTemplate {
  /** Its whole tree is copied into a new thread; existing entries stay unchanged. The caller closes it. */
  readonly files: StorageAdapter
  /** `extend` (default) adds to the standard parts, `replace` replaces them. */
  readonly mode?: 'extend' | 'replace' | undefined
}

export interface Provisioned {
  readonly made: readonly PartName[]
  readonly leftOut: readonly LeftOut[]
}
