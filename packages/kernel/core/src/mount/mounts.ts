import type { InnerAdapter } from '../contract/inner.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

export interface WorkspaceMount {
  readonly at: VirtualPath
  /** Undefined for the scratch until its first use. */
  adapter: InnerAdapter | undefined
  readonly access: 'read-write' | 'read-only'
  readonly caseSensitive: boolean
  /** True if the workspace made the adapter and must close it. */
  readonly owned: boolean
  readonly scratch: boolean
}
