import type { StorageAdapter } from '@ws/core/adapter'

export type PartName = '.venv' | '.bashrc' | '.profile' | 'package.json' | 'template'

/** A part that was not made, and the reason. */
export interface LeftOut {
  readonly part: PartName
  /** A part of a sentence, printed after the name of the part. */
  readonly reason: string
}

export interface ProvisionEvent {
  readonly threadId: string
  readonly part: PartName
  readonly state: 'started' | 'made' | 'kept' | 'left out'
  readonly reason?: string | undefined
}

export interface ThreadTemplate {
  /** The whole tree of `files` is copied into a new thread; existing entries stay unchanged. The caller closes the adapter. */
  readonly files: StorageAdapter
  /** `extend` (default) adds to the standard parts, `replace` replaces them. */
  readonly mode?: 'extend' | 'replace' | undefined
}

export interface Provisioned {
  readonly made: readonly PartName[]
  readonly leftOut: readonly LeftOut[]
}
