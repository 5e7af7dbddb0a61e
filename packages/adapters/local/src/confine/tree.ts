import { readlinkSync } from 'node:fs'

import type { MountPath, Owner } from '@ws/core/adapter'

import { type Where, failure } from '../errors.ts'
import { type Calls, identityOf } from '../host/calls.ts'
import { pathOfDescriptor } from '../host/calls.ts'
import type { NestedMounts } from '../host/mounts.ts'
import { replacement } from '../host/name.ts'

/** Milliseconds for which a check of the root remains valid. */
const believedMs = 5

export interface TreeOptions {
  readonly root: string
  /** A descriptor of the root, opened with `O_PATH`; -1 if the system has no such descriptors. */
  readonly fd: number
  /** The root's `device:inode`. */
  readonly identity: string
  readonly mounts: NestedMounts
  /** The owner of new entries; absent for this process's user. */
  readonly giveTo?: Owner | undefined
  readonly caseSensitive: boolean
  /** The root's device, if each change of a directory there sets its ctime, and the directory's size limits its number of entries. */
  readonly exactDevice?: bigint | undefined
  /** The root's device, if its files are in memory: calls never wait there. */
  readonly memoryDevice?: bigint | undefined
}

let lastId = 0

export class Tree {
  readonly id = ++lastId
  readonly root: string
  readonly fd: number
  readonly identity: string
  readonly mounts: NestedMounts
  readonly giveTo: Owner | undefined
  readonly caseSensitive: boolean
  readonly exactDevice: bigint | undefined
  readonly memoryDevice: bigint | undefined
  /** True if descriptors reveal their paths. Without `/proc`, paths are checked before use. */
  readonly verified: boolean
  readonly #prefix: string
  readonly #base: string
  readonly #needsBytes: boolean
  #seenAt = Number.NEGATIVE_INFINITY

  constructor({ root, fd, identity, mounts, giveTo, caseSensitive, exactDevice, memoryDevice }: TreeOptions) {
    this.caseSensitive = caseSensitive
    this.exactDevice = exactDevice
    this.memoryDevice = memoryDevice
    this.root = root
    this.fd = fd
    this.identity = identity
    this.mounts = mounts
    this.giveTo = giveTo
    this.verified = fd >= 0
    this.#prefix = root === '/' ? '' : root
    this.#base = this.verified ? pathOfDescriptor(fd) : this.#prefix
    this.#needsBytes = root.includes(replacement)
  }

  /** The host path of a path without links. No link is resolved. */
  hostPath(path: MountPath): string {
    return path === '/' ? this.root : this.#prefix + path
  }

  /** The path to open, below the root's descriptor. Renaming a directory above the root has no effect. */
  through(path: MountPath): string {
    // without `/.`, O_NOFOLLOW would refuse the link that /proc shows for the descriptor
    return path === '/' ? `${this.#base}/.` : this.#base + path
  }

  /** A host path, which is faster for reading than {@link through}. The caller verifies the entry; the root was verified a moment ago. */
  shortcut(path: MountPath): string | undefined {
    const now = performance.now()
    if (now - this.#seenAt > believedMs) {
      if (!this.#isInPlace()) return undefined
      this.#seenAt = now
    }
    return this.hostPath(path)
  }

  #isInPlace(): boolean {
    return this.verified && readlinkSync(pathOfDescriptor(this.fd)) === this.root
  }

  /** Whether a descriptor is open at the path, with no link on the way. Never blocks. */
  isAt(fd: number, path: MountPath): boolean {
    const link = pathOfDescriptor(fd)
    const expected = this.hostPath(path)
    // Invalid UTF-8 decodes to U+FFFD, which is a legal character of other names.
    if (this.#needsBytes || path.includes(replacement)) {
      return readlinkSync(link, 'buffer').equals(Buffer.from(expected))
    }
    return readlinkSync(link) === expected
  }

  /** @throws WorkspaceError `ENOWORKSPACE` when the root is no longer the directory that was opened. */
  async assertThere(calls: Calls, where: Where): Promise<void> {
    if (await this.#isThere(calls)) return
    throw failure(where, 'ENOWORKSPACE', 'cannot be reached: the root directory was removed or moved', {
      remedy: 'bring it back, or create a new adapter',
    })
  }

  async #isThere(calls: Calls): Promise<boolean> {
    if (this.verified) return this.#isInPlace()
    try {
      return identityOf(await calls.lstat(this.root)) === this.identity
    } catch {
      return false // a root that cannot be looked at counts as gone
    }
  }
}
