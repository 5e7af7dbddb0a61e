import type { MountPath, StorageAdapter } from '@ws/core/adapter'

export interface AdapterFixture {
  /** Empty, and used by this test alone. */
  readonly adapter: StorageAdapter
  /** Another way to the same tree, for an adapter that cannot be written through. Default: the adapter itself. */
  readonly seed?: StorageAdapter | undefined
  /** Makes a FIFO, for stores that can hold one. Its absence skips the tests on what is neither file, directory nor link. */
  readonly makeFifo?: ((path: MountPath) => Promise<void>) | undefined
  /** Makes a file in the root whose name is the byte 0xFF, for stores that can hold one. */
  readonly makeUnreachable?: (() => Promise<void>) | undefined
  /** Takes the whole tree away without the adapter, the root included. */
  readonly removeRoot?: (() => Promise<void>) | undefined
  /** Words that no error message may contain: host paths, bucket names, prefixes. */
  readonly secrets?: readonly string[] | undefined
  readonly dispose?: (() => Promise<void>) | undefined
}

export interface AdapterSuiteOptions {
  readonly name: string
  readonly create: () => AdapterFixture | Promise<AdapterFixture>
  /** Entries that the store gives in one answer, so that listings of more than one are tested. Default: it does not page. */
  readonly pageSize?: number | undefined
  /** Larger trees and more rounds; for runs that may take minutes. Default false. */
  readonly deep?: boolean | undefined
}
