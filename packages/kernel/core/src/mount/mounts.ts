import type { InnerAdapter } from '../contract/inner.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

export interface WorkspaceMount {
  readonly at: VirtualPath
  /** Undefined for the scratch until it is first used. */
  adapter: InnerAdapter | undefined
  readonly access: 'read-write' | 'read-only'
  readonly caseSensitive: boolean
  /** The workspace made the adapter and closes it. */
  readonly owned: boolean
  readonly scratch: boolean
}
