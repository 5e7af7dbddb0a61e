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

/** A path that a mount or a rule names. Its rights also apply below, down to the next node. */
export interface NamespaceNode<Mount extends NamespaceMount> {
  readonly path: VirtualPath
  readonly parent: NamespaceNode<Mount> | undefined
  children: Map<string, NamespaceNode<Mount>> | undefined
  /** The mount that contains this path; undefined above all mounts. */
  mount: Mount | undefined
  leadsToMount: boolean
  /** The rights that all rules together leave, without regard to the mount's access. */
  rights: number
  /** The rules that remove `READ` or `WRITE` here. */
  deniers: readonly SubtreeRule<VirtualPath>[]
  entries: RuleEntry[] | undefined
  /** True if names below this node are compared case-folded. */
  fold: boolean
  /** True for an alias, which is not an entry of the workspace. */
  reserved: boolean
}

export interface NamespaceOptions<Mount extends NamespaceMount> {
  readonly mounts: readonly Mount[]
  readonly rules: readonly SubtreeRule<VirtualPath>[]
  /** The path of the scratch. A rule applies to it only if the rule names the scratch or an entry inside. */
  readonly scratch?: VirtualPath | undefined
  readonly reserved?: readonly VirtualPath[] | undefined
}

/** Mounts and subtree rules in one trie, so one walk finds both. The constructor computes the common rights of all rules. */
export class Namespace<Mount extends NamespaceMount> {
  readonly root: NamespaceNode<Mount>
  readonly scratch: VirtualPath | undefined
  /** True if a mount compares names case-folded. */
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

  /** Computes rights from the top down. `above`: the rights of each rule at the parent node. */
  #settle(node: NamespaceNode<Mount>, above: Map<SubtreeRule<VirtualPath>, number>): void {
    let current = above
    if (node.path === this.scratch) {
      // Only rules that name the scratch, or an entry inside, apply to the scratch.
      const naming = [...above].filter(([rule]) => rule.entries.some(({ path }) => isWithin(path, node.path)))
      current = new Map(naming)
    }
    if (node.entries !== undefined) {
      current = new Map(current)
      const own = new Map<SubtreeRule<VirtualPath>, number>()
      // If a rule names one path twice (through folding), both entries apply.
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

  /** Yields every node below `path`, without `path` itself, parents first. */
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

// Shared by most nodes, which deny no right.
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
