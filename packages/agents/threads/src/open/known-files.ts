import type { Condition, MountPath } from '@ws/core/adapter'

const most = 10_000

/** The versions of a tree's files, or their absence, as the tree's one writer knows them. The oldest entries are dropped. */
export class KnownFiles {
  readonly #versions = new Map<MountPath, Condition>()

  get(path: MountPath): Condition | undefined {
    return this.#versions.get(path)
  }

  set(path: MountPath, version: Condition | undefined): void {
    this.#versions.delete(path)
    if (version === undefined) return
    this.#versions.set(path, version)
    for (const oldest of this.#versions.keys()) {
      if (this.#versions.size <= most) break
      this.#versions.delete(oldest)
    }
  }

  forget(path: MountPath): void {
    for (const known of this.#versions.keys()) {
      if (known === path || known.startsWith(`${path}/`)) this.#versions.delete(known)
    }
  }
}
