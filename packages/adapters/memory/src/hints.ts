import { paths as mountPaths } from '@ws/core'
import type { AdapterOptions, MountPath } from '@ws/core/adapter'

/** Maximum number of kept paths. With more, anything may have changed. */
const mostKept = 10_000

/** Notes every change of a tree in memory at or around a path. */
export class MemoryHints implements AdapterOptions.Hints {
  readonly #path: MountPath
  readonly #onHint: AdapterOptions.Watch['onHint']
  readonly #onClose: () => void
  #noted = new Set<MountPath>()

  constructor(path: MountPath, { onHint }: AdapterOptions.Watch, onClose: () => void) {
    this.#path = path
    this.#onHint = onHint
    this.#onClose = onClose
  }

  note(changed: readonly MountPath[]): void {
    const isNear = (path: MountPath): boolean =>
      mountPaths.isWithin(path, this.#path) || mountPaths.isWithin(this.#path, path)
    const near = changed.filter(isNear)
    if (near.length === 0) return
    if (this.#noted.size <= mostKept) for (const path of near) this.#noted.add(path)
    this.#onHint?.()
  }

  async take(): Promise<ReadonlySet<MountPath> | undefined> {
    const noted = this.#noted
    this.#noted = new Set()
    return noted.size > mostKept ? undefined : noted
  }

  close(): void {
    this.#onClose()
  }
}
