import { foldName } from '../path/segments.ts'
import { isWithin, rootPath, segmentsOf } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { ALL, rightsOf } from './access.ts'
import type { SubtreeRule } from '../contract/policy.ts'

export interface NamespaceMount {
  readonly at: VirtualPath
  readonly caseSensitive: boolean
}

interface RuleEntry {
  readonly rule: SubtreeRule<VirtualPath>
  readonly rights: number
}

/** A path that a mount or a rule names. Its rights hold below, up to the next such node. */
export interface NamespaceNode<Mount extends NamespaceMount> {
  readonly path: VirtualPath
  readonly parent: NamespaceNode<Mount> | undefined
  children: Map<string, NamespaceNode<Mount>> | undefined
  /** The mount that holds this path; undefined above all mounts. */
  mount: Mount | undefined
  leadsToMount: boolean
  /** Rights by all rules together, without the mount's access. */
  rights: number
  /** Names of the rules that take `READ` or `WRITE` away here. */
  deniers: readonly SubtreeRule<VirtualPath>[]
  entries: RuleEntry[] | undefined
  /** Names below this node are compared case-folded. */
  fold: boolean
  /** An alias: not an entry of the workspace. */
  reserved: boolean
}

export interface NamespaceOptions<Mount extends NamespaceMount> {
  readonly mounts: readonly Mount[]
  readonly rules: readonly SubtreeRule<VirtualPath>[]
  /** The scratch: exempt from rules that name neither it nor an entry inside. */
  readonly scratch?: VirtualPath | undefined
  readonly reserved?: readonly VirtualPath[] | undefined
}

/** Mounts and subtree rules in one trie, so one walk finds both. Rights are intersected at its construction. */
export class Namespace<Mount extends NamespaceMount> {
  readonly root: NamespaceNode<Mount>
  readonly scratch: VirtualPath | undefined
  /** Some mount compares names case-folded. */
  readonly #folds: boolean

  constructor({ mounts, rules, scratch, reserved = [] }: NamespaceOptions<Mount>) {
    this.scratch = scratch
    this.root = newNode(rootPath, undefined)
    const ordered = [...mounts].sort((left, right) => left.at.length - right.at.length)
    this.#folds = mounts.some(({ caseSensitive }) => !caseSensitive)
    for (const mount of ordered) {
      const node = this.#insert(mount.at, ordered)
      node.mount = mount
      for (let above: NamespaceNode<Mount> | undefined = node; above !== undefined; above = above.parent) {
        above.leadsToMount = true
      }
    }
    for (const rule of rules) {
      for (const { path, access } of rule.entries) {
        const node = this.#insert(path, ordered)
        node.entries ??= []
        node.entries.push({ rule, rights: rightsOf(access) })
      }
    }
    if (scratch !== undefined) this.#insert(scratch, ordered)
    for (const path of reserved) this.#insert(path, ordered).reserved = true
    this.#settle(this.root, new Map())
  }

  #insert(path: VirtualPath, mounts: readonly Mount[]): NamespaceNode<Mount> {
    let node = this.root
    let walked = ''
    for (const name of segmentsOf(path)) {
      if (this.#folds) {
        const holder = mounts.findLast(({ at }) => isWithin((walked || '/') as VirtualPath, at))
        node.fold = holder !== undefined && !holder.caseSensitive
      }
      const key = node.fold ? foldName(name) : name
      walked += `/${name}`
      node.children ??= new Map()
      let child = node.children.get(key)
      if (child === undefined) {
        child = newNode(walked as VirtualPath, node)
        node.children.set(key, child)
      }
      node = child
    }
    return node
  }

  /** Computes rights top down. `above`: the rights of each rule at the node above. */
  #settle(node: NamespaceNode<Mount>, above: Map<SubtreeRule<VirtualPath>, number>): void {
    let current = above
    if (node.path === this.scratch) {
      // The scratch is exempt from every rule that names neither it nor anything in it.
      const naming = [...above].filter(([rule]) => rule.entries.some(({ path }) => isWithin(path, node.path)))
      current = new Map(naming)
    }
    if (node.entries !== undefined) {
      current = new Map(current)
      const own = new Map<SubtreeRule<VirtualPath>, number>()
      // One rule that names one path twice (through folding) gives the intersection.
      for (const { rule, rights } of node.entries) own.set(rule, (own.get(rule) ?? ALL) & rights)
      for (const [rule, rights] of own) current.set(rule, rights)
    }
    if (node.parent !== undefined && current === above) {
      node.rights = node.parent.rights
      node.deniers = node.parent.deniers
    } else {
      node.rights = ALL
      const deniers: SubtreeRule<VirtualPath>[] = []
      for (const [rule, rights] of current) {
        if (rights !== ALL) deniers.push(rule)
        node.rights &= rights
      }
      node.deniers = deniers
    }
    node.mount ??= node.parent?.mount
    node.reserved ||= node.parent?.reserved ?? false
    if (node.children === undefined) return
    for (const child of node.children.values()) this.#settle(child, current)
  }

  find(path: VirtualPath): NamespaceNode<Mount> {
    let node = this.root
    let start = 1
    while (node.children !== undefined && start < path.length) {
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      const name = path.slice(start, end)
      const child = node.children.get(node.fold ? foldName(name) : name)
      if (child === undefined) break
      node = child
      start = end + 1
    }
    return node
  }

  at(path: VirtualPath): NamespaceNode<Mount> | undefined {
    const node = this.find(path)
    return node.path.length === path.length ? node : undefined
  }

  /** Every node below `path`, without `path` itself, parents first. */
  *below(path: VirtualPath): Generator<NamespaceNode<Mount>> {
    const node = this.at(path)
    if (node !== undefined) yield* descendants(node)
  }
}

function* descendants<Mount extends NamespaceMount>(node: NamespaceNode<Mount>): Generator<NamespaceNode<Mount>> {
  if (node.children === undefined) return
  for (const child of node.children.values()) {
    yield child
    yield* descendants(child)
  }
}

// A shared list, since most nodes deny no right.
const none: readonly never[] = []

function newNode<Mount extends NamespaceMount>(
  path: VirtualPath,
  parent: NamespaceNode<Mount> | undefined,
): NamespaceNode<Mount> {
  return {
    path,
    parent,
    children: undefined,
    mount: undefined,
    leadsToMount: false,
    rights: ALL,
    deniers: none,
    entries: undefined,
    fold: false,
    reserved: false,
  }
}

export function mountRuleName(at: VirtualPath): string {
  return `mount:${at}`
}
