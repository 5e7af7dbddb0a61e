import { paths } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

const capacity = 10_000

/**
 * Directories that this adapter has seen or made. Looking up every path before a write would double the write's cost.
 * Only a known directory causes a request, so a directory never hides a written file.
 */
export class DirectoryHints {
  readonly #known = new Set<MountPath>()

  has(path: MountPath): boolean {
    return this.#known.has(path)
  }

  add(path: MountPath): void {
    if (path === '/' || this.#known.has(path)) return
    this.#known.add(path)
    if (this.#known.size <= capacity) return
    const [oldest] = this.#known
    if (oldest !== undefined) this.#known.delete(oldest)
  }

  addAbove(path: MountPath): void {
    for (let parent = paths.parent(path); parent !== '/' && !this.#known.has(parent); parent = paths.parent(parent)) {
      this.add(parent)
    }
  }

  remove(path: MountPath): void {
    this.#known.delete(path)
  }
}
