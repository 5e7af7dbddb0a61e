import type { MountPath, StorageAdapter } from '@ws/core/adapter'

export interface AdapterFixture {
  /** Empty, and used by this test alone. */
  readonly adapter: StorageAdapter
  /** Another way to the same tree, for an adapter that cannot be written through. Default: the adapter itself. */
  readonly seed?: StorageAdapter | undefined
  /** Makes a FIFO. Absent: tests of special files are skipped. */
  readonly makeFifo?: ((path: MountPath) => Promise<void>) | undefined
  /** Makes a file named with the byte 0xFF in the root. */
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
  /** Entries of one answer, to test listings of several. Default: the store does not page. */
  readonly pageSize?: number | undefined
  /** Larger trees and more rounds; for runs that may take minutes. Default false. */
  readonly deep?: boolean | undefined
}
