import { paths, type WorkspaceError } from '@ws/core'
import type { EntryNote, MountPath } from '@ws/core/adapter'

import type { ReplicaEvent } from '../contract.ts'
import type { ReplicaTree } from './tree.ts'

/** Limit of entries that a text or a result names. */
const listed = 20

export function few(texts: readonly string[]): string {
  const more = texts.length - listed
  return `${texts.slice(0, listed).join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

/** Entries that only one side has. Each entry is listed until a command has reported it once. */
export class Notes {
  readonly #tree: ReplicaTree
  readonly #untold = new Map<MountPath, EntryNote>()
  #waiting: ReadonlyMap<MountPath, WorkspaceError> = new Map()

  constructor(tree: ReplicaTree) {
    this.#tree = tree
  }

  hear(event: ReplicaEvent): void {
    if (event.event === 'conflict') {
      const { path, kept } = event
      const reason = 'was changed in the store by another program; this machine\u2019s version is kept'
      this.#untold.set(path, { path, reason, kept })
    }
    if (event.event !== 'left-out') return
    const { path, reason } = event
    const { leftOut, base, seen } = this.#tree
    const isHere = leftOut.has(path) && (seen.has(path) || !base.has(path))
    const where = isHere ? 'is on this machine, and not in the store' : 'is in the store, and not on this machine'
    this.#untold.set(path, { path, reason: `${where}: ${reason}` })
  }

  /** Records the entries whose change has not reached the store. */
  wait(waiting: ReadonlyMap<MountPath, WorkspaceError>): void {
    for (const path of this.#waiting.keys()) if (!waiting.has(path)) this.#untold.delete(path)
    for (const [path, { reason }] of waiting) {
      if (this.#waiting.has(path)) continue
      this.#untold.set(path, { path, reason: `is on this machine, and not in the store yet: it ${reason}` })
    }
    this.#waiting = new Map(waiting)
  }

  tell(): EntryNote[] {
    const notes = [...this.#untold.values()]
    this.#untold.clear()
    const more = notes.length - listed
    if (more <= 0) return notes
    const reason = `has ${more} more such entries: the operator finds them in \`status()\` of the replica`
    return [...notes.slice(0, listed), { path: paths.mountRoot, reason }]
  }
}
