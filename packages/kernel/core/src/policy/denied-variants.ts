import { foldName } from '../path/segments.ts'
import { baseName, isWithin, segmentsOf } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { SubtreeRule } from '../contract/policy.ts'

interface VariantNode {
  readonly children: Map<string, VariantNode>
  readonly denied: { readonly rule: SubtreeRule<VirtualPath>; readonly path: VirtualPath }[]
}

/** Finds paths that differ from a denied path only in case or Unicode normalisation. A deny rule covers such variants on any store. */
export class DeniedVariants {
  readonly #root: VariantNode = { children: new Map(), denied: [] }
  readonly #named = new Map<SubtreeRule<VirtualPath>, Set<string>>()
  readonly #lastNames = new Set<string>()
  readonly empty: boolean

  constructor(rules: readonly SubtreeRule<VirtualPath>[]) {
    let empty = true
    for (const rule of rules) {
      const denied = rule.entries.filter(({ path, access }) => access === 'none' && path !== '/')
      if (denied.length === 0) continue
      empty = false
      this.#named.set(rule, new Set(rule.entries.map(({ path }) => path)))
      for (const { path } of denied) this.#add(rule, path)
    }
    this.empty = empty
  }

  #add(rule: SubtreeRule<VirtualPath>, path: VirtualPath): void {
    let node = this.#root
    for (const name of segmentsOf(path)) {
      const key = foldName(name)
      let child = node.children.get(key)
      if (child === undefined) {
        child = { children: new Map(), denied: [] }
        node.children.set(key, child)
      }
      node = child
    }
    node.denied.push({ rule, path })
    this.#lastNames.add(foldName(baseName(path)))
  }

  couldEndIn(name: string): boolean {
    return this.#lastNames.has(foldName(name))
  }

  /** Returns the rule that denies a variant of `path` or of an ancestor. */
  match(path: VirtualPath): SubtreeRule<VirtualPath> | undefined {
    if (this.empty) return undefined // @defence `if (…) ` another spelling of a denied name
    let node = this.#root
    let start = 1
    while (start < path.length) {
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      const child = node.children.get(foldName(path.slice(start, end)))
      if (child === undefined) return undefined
      node = child
      for (const { rule } of node.denied) {
        const prefix = path.slice(0, end)
        // If the rule has an entry with exactly this spelling, that entry decides.
        if (this.#named.get(rule)?.has(prefix) !== true) return rule
      }
      start = end + 1
    }
    return undefined
  }

  leadsOnFrom(path: VirtualPath): boolean {
    let node = this.#root
    for (const name of segmentsOf(path)) {
      const child = node.children.get(foldName(name))
      if (child === undefined) return false
      node = child
    }
    return node.children.size > 0
  }

  /** Returns a rule that denies an entry below another spelling of `path`. */
  leadingTo(path: VirtualPath): SubtreeRule<VirtualPath> | undefined {
    if (this.empty) return undefined
    let node = this.#root
    for (const name of segmentsOf(path)) {
      const child = node.children.get(foldName(name))
      if (child === undefined) return undefined
      node = child
    }
    for (const { rule, path: denied } of deniedBelow(node)) {
      if (!isWithin(denied, path)) return rule
    }
    return undefined
  }
}

function* deniedBelow(node: VariantNode): Generator<VariantNode['denied'][number]> {
  for (const child of node.children.values()) {
    yield* child.denied
    yield* deniedBelow(child)
  }
}
