import { relativeTo, segmentsOf } from '../../path/virtual-path.ts'
import type { VirtualPath } from '../../path/virtual-path.ts'
import { READ, WRITE } from '../../policy/access.ts'
import { mountRuleName } from '../../policy/namespace.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import { BindList, missingName, rightsIn } from './bind-list.ts'
import type { Node } from './bind-list.ts'
import type { Bind, BindPlan, MissingName, RuledLink } from '../../contract/bind-plan.ts'
import { coverMatches, coverVariants, rightsAt } from './cover-names.ts'
import type { CoverOptions } from './cover-names.ts'
import { coverLinks, type CoverLinksOptions } from './cover-links.ts'
import { findHolder, lookAt } from './disk-look.ts'

export interface CompileOptions extends CoverOptions, CoverLinksOptions {
  readonly aliases: readonly VirtualPath[]
  readonly apiOnlyRules: readonly string[]
  /** True for an interpreter. Its accesses all pass the file API, so matches of pattern rules are not searched for. */
  readonly interpreted: boolean
  readonly looksOnly: boolean
}

/**
 * Compiles mounts and subtree rules to binds. Checks on disk whether the entries that rules name exist.
 * A missing name must be reserved before a mask can cover it. If a name is a link, its target is bound.
 */
export async function compileBinds(options: CompileOptions): Promise<BindPlan> {
  const compiler = new Compiler(options)
  await compiler.visit(options.gate.namespace.root)
  await coverVariants(compiler.list, options)
  if (options.interpreted) return compiler.finish()
  const matched = await coverMatches(compiler.list, options)
  const { list } = compiler
  return compiler.finish(matched, list.linked.length === 0 ? [] : await coverLinks(list, options))
}

class Compiler {
  readonly #options: CompileOptions
  readonly list = new BindList()

  constructor(options: CompileOptions) {
    this.#options = options
    for (const rule of options.apiOnlyRules) {
      this.list.restrictions.push({ rule, path: options.root, field: 'apiRules' })
    }
  }

  finish(matched?: readonly VirtualPath[], links?: readonly RuledLink[]): BindPlan {
    const { root, aliases } = this.#options
    // Sorts parents before children, and a pin before its entries.
    const binds = [...this.list.binds.values(), ...this.list.pins.values()]
      .map((bind) => ({ bind, depth: segmentsOf(bind.at).length }))
      .sort((left, right) => left.depth - right.depth)
      .map(({ bind }) => bind)
    const renameBorders = binds
      .filter(({ kind, type }) => (kind === 'pin' && type === 'directory') || kind === 'subtree' || kind === 'closed')
      .map(({ at }) => at)
    return { root, binds, aliases, restrictions: this.list.restrictions, renameBorders, matched, links }
  }

  async visit(node: Node, around?: Bind): Promise<void> {
    if (node.reserved) return
    const inside = await this.#place(node, around)
    if (node.children === undefined) return
    for (const child of node.children.values()) await this.visit(child, inside)
  }

  #rights(node: Node): number {
    return rightsAt(this.#options.gate, this.#options.acknowledged, node)
  }

  /** Binds one node if it differs from its surroundings. Returns the bind around its children. */
  async #place(node: Node, around: Bind | undefined): Promise<Bind | undefined> {
    const { mount } = node
    if (mount === undefined) return around
    const isMount = mount.at === node.path
    let rights = this.#rights(node)
    if (rights === WRITE) {
      // Only the file API supports the right to write without the right to read.
      for (const rule of this.#named(node, READ)) this.list.restrict(rule, node, 'apiRules')
      rights = 0
    }
    const rightsAround = rightsIn(around)
    const isAsAround = !isMount && rights === rightsAround
    const own = isMount ? [] : this.#restricting(node)
    if (isAsAround && own.length === 0) return around
    const surrounding = isMount ? READ | WRITE : rightsAround
    const named = this.#named(node, surrounding)
    const rules = [...named, ...(mount.access === 'read-only' && isMount ? [mountRuleName(mount.at)] : [])]
    const found = isMount ? 'directory' : await lookAt(mount, node.path)
    if (found === 'link') {
      const left = own.reduce((bits, entry) => bits & entry.rights, READ)
      const names = own.map(({ rule }) => rule.name)
      if (own.length > 0) this.list.linked.push({ path: node.path, rules: names, rights: left })
    }
    if (isAsAround || found === 'link') return around
    const stricter = (rights & surrounding) !== surrounding
    const absent = found === 'missing' || found === 'below-file'
    let missing: MissingName | undefined

    if (stricter) {
      // Commands cannot create the entry here, so it needs no cover.
      if (absent && (rightsAround & WRITE) === 0) return around
      const field = rights === 0 ? 'deniedSubtrees' : isMount ? 'readOnlyMounts' : 'subtrees'
      const problem = found === 'other' ? uncoverable : undefined
      if (found === 'missing') missing = missingName(node, mount) // @defence a protected name that does not exist yet: cannot be made
      for (const rule of rules) this.list.restrict(rule, node, field, problem, missing)
      if (problem !== undefined) return around
      if (found === 'below-file') {
        await this.#pinHolder(node, mount, around)
        return around
      }
    } else if (absent || found === 'other') {
      if (found !== 'missing' || (rights & WRITE) === 0 || !(await this.#create(node))) return around
    }
    this.list.pinAncestors(node.path, isMount ? node.parent?.mount : mount, around)
    const type = found === 'file' ? 'file' : 'directory'
    const source = mount.adapter?.hostPath?.(relativeTo(node.path, mount.at))
    const isClosed = rights === 0 && type === 'directory' && missing === undefined && this.#holdsAllowed(node)
    const open = mount.scratch ? 'scratch' : isMount ? 'mount' : 'subtree'
    const common = { at: node.path, type, rules, missing } as const
    const bind: Bind =
      rights === 0
        ? { ...common, kind: isClosed ? 'closed' : 'mask', access: 'none' }
        : { ...common, kind: open, source, access: rights === READ ? 'read-only' : 'read-write' }
    this.list.binds.set(bind)
    return bind
  }

  #restricting({ entries = [] }: Node): NonNullable<Node['entries']> {
    return entries.filter(({ rule, rights }) => rights !== (READ | WRITE) && !this.#options.acknowledged.has(rule.name))
  }

  /** Returns the names of the rules that remove rights at a node. */
  #named(node: Node, surrounding: number): string[] {
    const { gate, acknowledged } = this.#options
    return node.deniers
      .filter(
        (rule) => !acknowledged.has(rule.name) && (gate.ruleRights(rule, node.path) & surrounding) !== surrounding,
      )
      .map(({ name }) => name)
  }

  /** Pins a file where a rule expects a directory, such as `.git` of a worktree. No entry can be created below a pinned file. */
  async #pinHolder(node: Node, mount: WorkspaceMount, around: Bind | undefined): Promise<void> {
    const at = await findHolder(mount, node.path)
    if (at === undefined || this.list.pins.get(at) !== undefined || this.list.binds.get(at) !== undefined) return
    this.list.pinAncestors(at, mount, around)
    const source = mount.adapter?.hostPath?.(relativeTo(at, mount.at))
    this.list.pins.set({ kind: 'pin', at, type: 'file', source, access: 'read-write', rules: [] })
  }

  #holdsAllowed(node: Node): boolean {
    for (const below of this.#options.gate.namespace.below(node.path)) {
      if (!below.reserved && this.#rights(below) !== 0) return true
    }
    return false
  }

  /** Creates a missing writable directory inside a read-only part, as the file API would. Does not create its parents. */
  async #create({ mount, path }: Node): Promise<boolean> {
    if (mount?.adapter === undefined || mount.access === 'read-only') return false
    if (this.#options.looksOnly) return true
    try {
      await mount.adapter.createDirectory(relativeTo(path, mount.at))
      return true
    } catch {
      return false // the caller reports the missing directory
    }
  }
}

const uncoverable = {
  reason: 'is a FIFO, a socket or a device, which cannot be covered',
  remedy: 'remove it',
}
