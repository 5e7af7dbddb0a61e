import { isWithin } from './virtual-path.ts'
import type { VirtualPath } from './virtual-path.ts'

interface KnownAncestor<Path, Known> {
  readonly path: Path
  readonly known: Known
}

const maxRemembered = 1024
/** Maximum length of a remembered path: longer paths are slow to look up. */
const longestRemembered = 512

/** Derives facts about a directory from the directory above. Remembers the last path, so a walk takes the same time at any depth. */
export class Descent<Known, Path extends string = VirtualPath> {
  readonly #root: KnownAncestor<Path, Known>
  readonly #way: KnownAncestor<Path, Known>[] = []
  readonly #remembered = new Map<Path, Known>()
  readonly #next: (above: Known, directory: Path) => Known

  /** @param root `/` for absolute paths, empty for relative paths */
  constructor(root: Path, known: Known, next: (above: Known, directory: Path) => Known) {
    this.#root = { path: root, known }
    this.#next = next
  }

  at(directory: Path): Known {
    let last = this.#way.at(-1) ?? this.#root
    if (directory === last.path) return last.known
    const known = directory.length <= longestRemembered ? this.#remembered.get(directory) : undefined
    if (known !== undefined) return known
    while (last !== this.#root && !isWithin(directory as string as VirtualPath, last.path as string as VirtualPath)) {
      this.#way.pop()
      last = this.#way.at(-1) ?? this.#root
    }
    while (last.path.length < directory.length) {
      const slash = directory.indexOf('/', last === this.#root ? last.path.length : last.path.length + 1)
      const path = slash < 0 ? directory : (directory.slice(0, slash) as Path)
      last = { path, known: this.#next(last.known, path) }
      this.#way.push(last)
      this.#remember(last)
    }
    return last.known
  }

  #remember({ path, known }: KnownAncestor<Path, Known>): void {
    if (path.length > longestRemembered) return
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear()
    this.#remembered.set(path, known)
  }
}
