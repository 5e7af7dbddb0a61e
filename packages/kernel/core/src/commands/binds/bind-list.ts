import { isWithin, mountRoot, parentPath, relativeTo, rootPath } from '../../path/virtual-path.ts'
import type { VirtualPath } from '../../path/virtual-path.ts'
import { ALL, READ, rightsOf } from '../../policy/access.ts'
import type { NamespaceNode } from '../../policy/namespace.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import type { Bind, MissingName, Restriction } from '../../contract/bind-plan.ts'
import type { Placeholder } from './git-directories.ts'
import type { GuaranteeField } from '../../contract/guarantees.ts'

export type Node = NamespaceNode<WorkspaceMount>

export interface RuledName {
  readonly path: VirtualPath
  readonly rules: readonly string[]
  readonly rights: number
  readonly isPattern?: boolean | undefined
  /** True if the rule ignores directories with this name. */
  readonly filesOnly?: boolean | undefined
}

/** Binds by path, with a fast query for binds below a path: a plan can have thousands of binds. */
class PathMap {
  readonly #at = new Map<VirtualPath, Bind>()
  readonly #below = new Map<VirtualPath, number>()

  get(path: VirtualPath): Bind | undefined {
    return this.#at.get(path)
  }

  values(): MapIterator<Bind> {
    return this.#at.values()
  }

  set(bind: Bind): void {
    if (!this.#at.has(bind.at)) this.#count(bind.at, 1)
    this.#at.set(bind.at, bind)
  }

  within(path: VirtualPath): Bind[] {
    if (!this.#below.get(path)) return []
    return [...this.#at.values()].filter((bind) => isWithin(bind.at, path))
  }

  drop(path: VirtualPath): Bind[] {
    const dropped = this.within(path)
    for (const { at } of dropped) {
      this.#at.delete(at)
      this.#count(at, -1)
    }
    return dropped
  }

  #count(at: VirtualPath, by: number): void {
    for (let path = at; ; path = parentPath(path)) {
      this.#below.set(path, (this.#below.get(path) ?? 0) + by)
      if (path === rootPath) return
    }
  }
}

/** Collects the binds and restrictions of a plan during compilation. */
export class BindList {
  readonly binds = new PathMap()
  readonly pins = new PathMap()
  readonly restrictions: Restriction[] = []
  readonly linked: RuledName[] = []

  restrict(
    rule: string,
    node: Pick<Node, 'path'>,
    field: GuaranteeField,
    problem?: Restriction['problem'],
    missing?: MissingName,
  ): void {
    this.restrictions.push({ rule, path: node.path, field, ...(problem && { problem }), ...(missing && { missing }) })
  }

  /** Pins the directories between the nearest bind and `at`, so that no program renames them. Read-only places need no pin. */
  pinAncestors(at: VirtualPath, holder: WorkspaceMount | undefined, around: Bind | undefined): void {
    if (holder === undefined || around === undefined || rightsIn(around) !== ALL) return
    for (let path = parentPath(at); path !== around.at && isWithin(path, holder.at); path = parentPath(path)) {
      if (path === holder.at) break
      const source = holder.adapter?.hostPath?.(relativeTo(path, holder.at))
      if (this.pins.get(path) !== undefined || this.binds.get(path) !== undefined) continue
      this.pins.set({ kind: 'pin', at: path, type: 'directory', source, access: 'read-write', rules: [] }) // @defence renaming an ancestor of a protected part and building it anew
    }
  }

  around(path: VirtualPath): Bind | undefined {
    let at = path
    while (this.binds.get(at) === undefined && at !== rootPath) at = parentPath(at)
    return this.binds.get(at)
  }

  drop(at: VirtualPath): Bind[] {
    this.pins.drop(at)
    return this.binds.drop(at)
  }
}

/** Returns the rights that commands have in a bind, as bits. Outside all binds, commands can only read. */
export function rightsIn(around: Bind | undefined): number {
  return around === undefined ? READ : rightsOf(around.access)
}

export function missingName(
  { path }: Pick<Node, 'path'>,
  { at, adapter }: WorkspaceMount,
  placeholder: Placeholder = 'directory',
): MissingName | undefined {
  const root = adapter?.hostPath?.(mountRoot)
  if (root === undefined) return undefined
  return { root, path: relativeTo(path, at), ...(placeholder !== 'directory' && { content: placeholder.content }) }
}
