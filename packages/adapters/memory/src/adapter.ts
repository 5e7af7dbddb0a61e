import { WorkspaceError } from '@ws/core'
import {
  type AdapterOptions,
  defineAdapter,
  type DriverCapabilities,
  type DriverOptions,
  type MountPath,
  type StorageAdapter,
} from '@ws/core/adapter'
import { capabilitiesOf } from './capabilities.ts'
import { TreeDriver } from './driver.ts'
import { MemoryHints } from './hints.ts'
import { MemoryTree } from './memory-tree.ts'
import { checkMemoryOptions, type MemoryAdapterOptions } from './options.ts'
import { seed } from './seed.ts'
import type { Tree } from './tree.ts'

/**
 * An adapter in the memory of this process, gone when closed. It gives the strongest guarantees, and checks conditions against every writer.
 * @throws WorkspaceError `EINVAL` that names the option; `ENOTDIR`, `EISDIR`, `EEXIST` for `files` that are not a tree
 */
export function createMemoryAdapter(options: MemoryAdapterOptions = {}): StorageAdapter {
  checkMemoryOptions(options)
  const { files = {}, readOnly = false, now } = options
  const tree = Object.keys(files).length === 0 ? undefined : seed(files, now)
  return defineAdapter(new MemoryDriver(readOnly, tree, now), { trusted: true })
}

class MemoryDriver extends TreeDriver {
  readonly name = 'memory'
  readonly capabilities: DriverCapabilities
  readonly #now: MemoryAdapterOptions['now']
  readonly #hints = new Set<MemoryHints>()
  #seeded: Tree | undefined

  constructor(readOnly: boolean, seeded: Tree | undefined, now: MemoryAdapterOptions['now']) {
    super()
    this.capabilities = capabilitiesOf(readOnly)
    this.#seeded = seeded
    this.#now = now
  }

  protected makeTree(): Tree {
    const tree = this.#seeded ?? new MemoryTree(this.#now)
    this.#seeded = undefined
    return tree
  }

  async watch(path: MountPath, options: AdapterOptions.Watch): Promise<MemoryHints> {
    const hints = new MemoryHints(path, options, () => this.#hints.delete(hints))
    this.#hints.add(hints)
    return hints
  }

  protected override noteChange(...paths: readonly MountPath[]): void {
    for (const hints of this.#hints) hints.note(paths)
  }

  async createScratch(): Promise<StorageAdapter> {
    return createMemoryAdapter({ now: this.#now })
  }

  async createFork({ directory }: DriverOptions.Fork): Promise<StorageAdapter> {
    if (directory !== undefined) throw withoutDirectory()
    const copy = (this.tree as MemoryTree).fork()
    return defineAdapter(new MemoryDriver(false, copy, this.#now), { trusted: true })
  }
}

function withoutDirectory(): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'createFork',
    path: '/',
    reason: 'is in memory, and a copy of it can have no `directory`',
    remedy: 'leave `directory` out',
  })
}
