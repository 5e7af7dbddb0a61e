import type { MountPath, StorageAdapter } from '@ws/core/adapter'

export interface AdapterFixture {
  /** An empty adapter, used by this test only. */
  readonly adapter: StorageAdapter
  /** A second adapter on the same tree, to create entries if the adapter cannot write. Default: the adapter itself. */
  readonly seed?: StorageAdapter | undefined
  /** Makes a FIFO. Absent: tests of special files are skipped. */
  readonly makeFifo?: ((path: MountPath) => Promise<void>) | undefined
  /** Makes a file in the root whose name contains the byte 0xFF. */
  readonly makeUnreachable?: (() => Promise<void>) | undefined
  /** Removes the tree and its root, not through the adapter. */
  readonly removeRoot?: (() => Promise<void>) | undefined
  /** Words that no error message may contain: host paths, bucket names, prefixes. */
  readonly secrets?: readonly string[] | undefined
  readonly dispose?: (() => Promise<void>) | undefined
}

export interface AdapterSuiteOptions {
  readonly name: string
  readonly create: () => AdapterFixture | Promise<AdapterFixture>
  /** Maximum number of entries in one answer of the store, to test listings of several answers. Default: the store has no such limit. */
  readonly pageSize?: number | undefined
  /** Test larger trees and more rounds, which may take minutes. Default false. */
  readonly deep?: boolean | undefined
}
