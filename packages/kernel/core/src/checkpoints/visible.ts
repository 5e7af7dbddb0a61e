import { joinPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { Context } from '../calls/context.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { View } from '../mount/view.ts'
import type { Difference, SavedPlace } from '../contract/checkpoint-engine.ts'

export interface VisibleDifference extends Difference {
  readonly virtual: VirtualPath
}

/** Decides which saved paths callers may see now. */
export class Sights {
  readonly #context: Context
  readonly #mounts: readonly WorkspaceMount[]
  readonly #views = new Map<VirtualPath, View>()

  /** @param mounts in the order in which the engine knows them */
  constructor(context: Context, mounts: readonly WorkspaceMount[]) {
    this.#context = context
    this.#mounts = mounts
  }

  /** Returns the path that callers see. `undefined`: rules deny the path, or another mount hides it. */
  pathOf({ mount: index, path }: SavedPlace): VirtualPath | undefined {
    const { gate } = this.#context
    const mount = this.#mounts[index]
    if (mount === undefined) return undefined
    const virtual = joinPath(mount.at, path)
    const node = gate.namespace.find(virtual)
    // At and below the mount point of an inner mount, the outer mount's entries are hidden.
    if (node.reserved || node.mount !== mount) return undefined
    for (const operation of ['stat', 'read'] as const)
      if (gate.decide({ operation, path: virtual, need: 'read' }).effect === 'deny') return undefined
    let view = this.#views.get(node.path)
    if (view === undefined) this.#views.set(node.path, (view = new View(gate, node.path, 'search')))
    return virtual === node.path || view.visibility(virtual) === 'described' ? virtual : undefined
  }

  visible(differences: readonly Difference[]): VisibleDifference[] {
    return differences.flatMap((difference) => {
      const virtual = this.pathOf(difference)
      return virtual === undefined ? [] : [{ ...difference, virtual }]
    })
  }
}
