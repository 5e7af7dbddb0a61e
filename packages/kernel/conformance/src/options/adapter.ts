import type { MountPath, StorageAdapter } from '@ws/core/adapter'

export interface AdapterFixture {
  /** An empty adapter for this test alone. */
  readonly adapter: StorageAdapter
  /** A second adapter on the same tree, to seed an adapter that cannot write. Default: the adapter itself. */
  readonly seed?: StorageAdapter | undefined
  /** Makes a FIFO. Absent: tests of special files are skipped. */
  readonly makeFifo?: ((path: MountPath) => Promise<void>) | undefined
  /** Makes a file in the root whose name contains the byte 0xFF. */
  readonly makeUnreachable?: (() => Promise<void>) | undefined
  /** Removes the tree and its root, without the adapter. */
  readonly removeRoot?: (() => Promise<void>) | undefined
  /** Words that no error message may contain: host paths, bucket names, prefixes. */
  readonly secrets?: readonly string[] | undefined
  readonly dispose?: (() => Promise<void>) | undefined
}

export interface AdapterSuiteOptions {
  readonly name: string
  readonly create: () => AdapterFixture | Promise<AdapterFixture>
  /** Most entries in one answer of the store, to test listings of several answers. Default: the store does not page. */
  readonly pageSize?: number | undefined
  /** Larger trees and more rounds; for runs that may take minutes. Default false. */
  readonly deep?: boolean | undefined
}
