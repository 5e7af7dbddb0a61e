import { isWithin, mountRoot, parentPath, relativeTo, segmentsOf } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { READ, WRITE } from '../policy/access.ts'
import type { NamespaceNode } from '../policy/namespace.ts'
import type { ResolvedSubtreeRule } from '../policy/types.ts'
import type { Gate } from '../workspace/gate.ts'
import { mountRuleName } from '../workspace/mounts.ts'
import type { WorkspaceMount } from '../workspace/mounts.ts'
import type { Bind, BindPlan, MissingName, Restriction } from './bind-plan.ts'
import { type Found, findHolder, lookAt } from './disk-look.ts'
import type { GuaranteeField } from './guarantees.ts'
import { maxDirectories, maxMatches, walkPatterns } from './pattern-walk.ts'
import type { Match, Walk } from './pattern-walk.ts'
import { VariantLook } from './variant-look.ts'

export interface CompileOptions {
  readonly gate: Gate
  readonly root: VirtualPath
  readonly aliases: readonly VirtualPath[]
  /** Rules that this command runs without. */
  readonly acknowledged: ReadonlySet<string>
  /** The rules that hold at the API only. */
  readonly apiOnlyRules: readonly string[]
  /** An interpreter asks the file door for every path: what matches rules by pattern need not be found beforehand. */
  readonly interpreted: boolean
  /** The plan is only to be looked at: nothing is made on the disk for it. */
  readonly looksOnly: boolean
}

type Node = NamespaceNode<WorkspaceMount>

/** What surrounds a node in the tree of a command: read and write as bits. */
interface Surroundings {
  readonly mount: WorkspaceMount | undefined
  readonly rights: number
  /** The nearest bind above: renames are free below it. */
  readonly bound: VirtualPath
}

/**
 * Compiles mounts and subtree rules to binds. Looks at the disk, through the adapters, for what a rule names: a name that
 * is missing must be reserved before a mask can lie over it, and no component may be a link.
 */
export async function compileBinds(options: CompileOptions): Promise<BindPlan> {
  const compiler = new Compiler(options)
  await compiler.visit(options.gate.namespace.root, { mount: undefined, rights: READ, bound: '/' as VirtualPath })
  await compiler.maskVariants()
  if (!options.interpreted) await compiler.bindMatches()
  return compiler.finish()
}

/** What matches rules by pattern now, but for those that a command runs without. */
export async function findMatches(gate: Gate, acknowledged: ReadonlySet<string>): Promise<Walk> {
  const patterns = gate.declared.patterns.filter(({ rule }) => !acknowledged.has(rule.name))
  return await walkPatterns({ gate, patterns, rightsAt: (node) => rightsAt(gate, acknowledged, node) })
}

/** The rights a command has at a node: the policy's, less the rules that it runs without. */
function rightsAt(gate: Gate, acknowledged: ReadonlySet<string>, node: Node): number {
  if (acknowledged.size === 0) return gate.rightsAt(node)
  let rights = READ | WRITE
  for (const rule of node.deniers) {
    if (!acknowledged.has(rule.name)) rights &= gate.ruleRights(rule, node.path)
  }
  const readOnly = node.mount?.access === 'read-only' && !acknowledged.has(mountRuleName(node.mount.at))
  return readOnly ? rights & READ : rights
}

class Compiler {
  readonly #options: CompileOptions
  #binds: Bind[] = []
  #matched: readonly VirtualPath[] = []
  readonly #restrictions: Restriction[] = []
  readonly #pins = new Map<VirtualPath, Bind>()
  readonly #look = new VariantLook()

  #variants = 0

  constructor(options: CompileOptions) {
    this.#options = options
    for (const rule of options.apiOnlyRules) {
      this.#restrictions.push({ rule, path: options.root, field: 'apiRules' })
    }
  }

  finish(): BindPlan {
    const { root, aliases } = this.#options
    // Parents first; a pin before what lies in it.
    const binds = [...this.#binds, ...this.#pins.values()].sort(
      (left, right) => segmentsOf(left.at).length - segmentsOf(right.at).length,
    )
    const renameBorders = binds
      .filter(({ kind, type }) => (kind === 'pin' && type === 'directory') || kind === 'subtree' || kind === 'closed')
      .map(({ at }) => at)
    return { root, binds, aliases, restrictions: this.#restrictions, renameBorders, matched: this.#matched }
  }

  async visit(node: Node, around: Surroundings): Promise<void> {
    if (node.reserved) return
    const inside = await this.#place(node, around)
    if (node.children === undefined) return
    for (const child of node.children.values()) await this.visit(child, inside)
  }

  #rights(node: Node): number {
    return rightsAt(this.#options.gate, this.#options.acknowledged, node)
  }

  /** Binds one node, where it differs from what surrounds it, and tells what surrounds its children. */
  async #place(node: Node, around: Surroundings): Promise<Surroundings> {
    const { mount } = node
    if (mount === undefined) return around
    const isMount = mount.at === node.path
    let rights = this.#rights(node)
    if (rights === WRITE) {
      // Nothing but the file API can let somebody write what he cannot read.
      for (const rule of this.#named(node, READ)) this.#restrict(rule, node, 'apiRules')
      rights = 0
    }
    if (!isMount && around.mount === mount && rights === around.rights) return around
    const surrounding = isMount ? READ | WRITE : around.rights
    const named = this.#named(node, surrounding)
    const rules = [...named, ...(mount.access === 'read-only' && isMount ? [mountRuleName(mount.at)] : [])]
    const found = isMount ? 'directory' : await lookAt(mount, node.path)
    const stricter = (rights & surrounding) !== surrounding
    const absent = found === 'missing' || found === 'below-file'
    let missing: MissingName | undefined

    if (stricter) {
      // Nobody can make it there: there is nothing to hold.
      if (absent && (around.rights & WRITE) === 0) return around
      const field = rights === 0 ? 'deniedSubtrees' : isMount ? 'readOnlyMounts' : 'subtrees'
      const problem = problemOf(found)
      if (found === 'missing') missing = missingName(node, mount)
      for (const rule of rules) this.#restrict(rule, node, field, problem, missing)
      if (problem !== undefined) return around
      if (found === 'below-file') {
        await this.#pinHolder(node, mount, around)
        return around
      }
    } else if (absent || found === 'link' || found === 'other') {
      if (found !== 'missing' || (rights & WRITE) === 0 || !(await this.#create(node))) return around
    }
    await this.#pinAncestors(node.path, mount, around, isMount)
    const type = found === 'file' ? 'file' : 'directory'
    const source = mount.adapter?.hostPath?.(relativeTo(node.path, mount.at))
    const at = node.path
    if (rights === 0) {
      const kind = type === 'directory' && missing === undefined && this.#holdsAllowed(node) ? 'closed' : 'mask'
      this.#binds.push({ kind, at, type, access: 'none', rules, missing })
    } else {
      const kind = mount.scratch ? 'scratch' : isMount ? 'mount' : 'subtree'
      this.#binds.push({ kind, at, type, source, access: rights === READ ? 'read-only' : 'read-write', rules, missing })
    }
    return { mount, rights, bound: at }
  }

  /** The rules that take away, at a node, something of what surrounds it: those that need the restriction. */
  #named(node: Node, surrounding: number): string[] {
    const { gate, acknowledged } = this.#options
    return node.deniers
      .filter(
        (rule) => !acknowledged.has(rule.name) && (gate.ruleRights(rule, node.path) & surrounding) !== surrounding,
      )
      .map(({ name }) => name)
  }

  #restrict(
    rule: string,
    node: Pick<Node, 'path'>,
    field: GuaranteeField,
    problem?: Restriction['problem'],
    missing?: MissingName,
  ): void {
    this.#restrictions.push({ rule, path: node.path, field, ...(problem && { problem }), ...(missing && { missing }) })
  }

  /**
   * A file stands where the rule needs a directory, as `.git` of a worktree. While it cannot be removed, nothing can be
   * made below it.
   */
  async #pinHolder(node: Node, mount: WorkspaceMount, around: Surroundings): Promise<void> {
    const at = await findHolder(mount, node.path)
    if (at === undefined || this.#pins.has(at) || this.#binds.some((bind) => bind.at === at)) return
    await this.#pinAncestors(at, mount, around, false)
    const source = mount.adapter?.hostPath?.(relativeTo(at, mount.at))
    this.#pins.set(at, { kind: 'pin', at, type: 'file', source, access: 'read-write', rules: [] })
  }

  #holdsAllowed(node: Node): boolean {
    for (const below of this.#options.gate.namespace.below(node.path)) {
      if (!below.reserved && this.#rights(below) !== 0) return true
    }
    return false
  }

  /**
   * Directories between the nearest bind and `at` could be renamed away and built anew, were they not mount points
   * themselves. Where nothing can be written there, there is nothing to pin.
   */
  async #pinAncestors(at: VirtualPath, mount: WorkspaceMount, around: Surroundings, isMount: boolean): Promise<void> {
    const holder = isMount ? around.mount : mount
    if (holder === undefined || around.rights !== (READ | WRITE)) return
    for (let path = parentPath(at); path !== around.bound && isWithin(path, holder.at); path = parentPath(path)) {
      if (path === holder.at) break
      const source = holder.adapter?.hostPath?.(relativeTo(path, holder.at))
      if (this.#pins.has(path) || this.#binds.some((bind) => bind.at === path)) continue
      this.#pins.set(path, { kind: 'pin', at: path, type: 'directory', source, access: 'read-write', rules: [] })
    }
  }

  /**
   * A place that is granted for writing inside of what is not, and is not there yet: the API makes it with the first file.
   * Like the API, not its parents: those are not granted.
   */
  async #create({ mount, path }: Node): Promise<boolean> {
    if (mount?.adapter === undefined || mount.access === 'read-only') return false
    if (this.#options.looksOnly) return true
    try {
      await mount.adapter.createDirectory(relativeTo(path, mount.at))
      return true
    } catch {
      return false
    }
  }

  /**
   * Masks what is there under another spelling of a denied name. A link, a FIFO or a socket of such a name is left alone: a
   * command can have made it, it holds nothing, and refusing commands for it would let that one command end all others.
   */
  async maskVariants(): Promise<void> {
    const { gate, acknowledged } = this.#options
    for (const { rule, path } of gate.deniedEntries()) {
      if (acknowledged.has(rule.name)) continue
      const mount = gate.namespace.find(path).mount
      if (mount?.adapter === undefined || !mount.caseSensitive) continue
      for (const variant of await this.#look.variantsOf(path, mount)) {
        if (gate.names(rule, variant)) continue
        if (this.#variants >= maxVariants) {
          this.#restrict(rule.name, { path: variant }, 'deniedSubtrees', tooManyVariants)
          return
        }
        await this.#maskVariant(variant, rule, mount)
      }
    }
  }

  /** Covers what matches rules by pattern now. A link, a FIFO or a socket of such a name is left alone, as above. */
  async bindMatches(): Promise<void> {
    const { gate, acknowledged } = this.#options
    const { matches, overflow } = await findMatches(gate, acknowledged)
    this.#matched = matches.map(({ path }) => path)
    const first = matches[0]?.pattern.rule.name ?? gate.declared.patterns[0]?.rule.name
    if (overflow !== undefined && first !== undefined) {
      this.#restrict(first, { path: this.#options.root }, 'deniedSubtrees', tooMuch[overflow])
      return
    }
    for (const match of matches) await this.#bindMatch(match)
  }

  async #bindMatch({ path, type, mount, pattern }: Match): Promise<void> {
    if (type === 'symlink' || type === 'other') return
    const { rule, rights } = pattern
    const around = this.#around(path, mount)
    if ((around.rights & ~rights) === 0) return
    const missing = type === 'missing' ? missingName({ path }, mount) : undefined
    if (missing !== undefined && (around.rights & WRITE) === 0) return
    this.#restrict(rule.name, { path }, rights === 0 ? 'deniedSubtrees' : 'subtrees', undefined, missing)
    // What other rules say of what lies below is no wider.
    const inside = this.#binds.filter(({ at }) => isWithin(at, path))
    this.#binds = this.#binds.filter((bind) => !inside.includes(bind))
    for (const at of this.#pins.keys()) if (isWithin(at, path)) this.#pins.delete(at)
    await this.#pinAncestors(path, mount, this.#around(parentPath(path), mount), false)
    const source = mount.adapter?.hostPath?.(relativeTo(path, mount.at))
    const own = inside.find(({ at }) => at === path)
    const bind: Bind = {
      kind: 'subtree',
      at: path,
      type: type === 'file' ? 'file' : 'directory',
      access: 'read-only',
      rules: [rule.name],
      missing,
    }
    if (rights === 0) this.#binds.push({ ...bind, kind: 'mask', access: 'none' })
    else {
      this.#binds.push(
        own === undefined ? { ...bind, source } : { ...own, access: 'read-only', rules: [...own.rules, rule.name] },
      )
      for (const one of inside) {
        if (one !== own) this.#binds.push(one.access === 'read-write' ? { ...one, access: 'read-only' } : one)
      }
    }
  }

  /** What surrounds a path that is not a node: the nearest bind above it, or at it. */
  #around(path: VirtualPath, mount: WorkspaceMount): Surroundings {
    const nearest = this.#binds
      .filter((bind) => bind.kind !== 'pin' && isWithin(path, bind.at))
      .reduce<Bind | undefined>(
        (best, bind) => (best !== undefined && best.at.length > bind.at.length ? best : bind),
        undefined,
      )
    const rights = nearest?.access === 'read-write' ? READ | WRITE : nearest?.access === 'none' ? 0 : READ
    return { mount, rights, bound: nearest?.at ?? mount.at }
  }

  async #maskVariant(at: VirtualPath, rule: ResolvedSubtreeRule, mount: WorkspaceMount): Promise<void> {
    const found = await lookAt(mount, at)
    if (found !== 'file' && found !== 'directory') return
    if (this.#binds.some((bind) => bind.kind === 'mask' && isWithin(at, bind.at))) return
    this.#variants += 1
    this.#restrict(rule.name, { path: at }, 'deniedSubtrees')
    // Another rule may name this spelling, or something in it: nothing shows through what is denied.
    this.#binds = this.#binds.filter((bind) => !isWithin(bind.at, at))
    for (const pin of this.#pins.keys()) if (isWithin(pin, at)) this.#pins.delete(pin)
    await this.#pinAncestors(at, mount, this.#around(at, mount), false)
    const type = found === 'file' ? 'file' : 'directory'
    this.#binds.push({ kind: 'mask', at, type, access: 'none', rules: [rule.name] })
  }
}

/** Masks of look-alikes for one command: the start of a command takes longer with each. */
const maxVariants = 200

const tooManyVariants = {
  reason: `is one of more than ${maxVariants} other spellings of denied names, and a command can cover no more`,
  remedy: 'delete them through the file API',
}

const tooMuch = {
  matches: {
    reason: `holds more than ${maxMatches} entries that the rule is about, and a command can cover no more`,
    remedy: 'list them with `ws doctor --matches`, and remove what is not needed through a workspace without the rule',
  },
  directories: {
    reason: `holds more than ${maxDirectories} directories to look into for what the rule is about`,
    remedy: 'name large directories in `skip` of the rule, or remove what is not needed through the file API',
  },
}

function problemOf(found: Found): Restriction['problem'] {
  switch (found) {
    case 'link':
      return {
        reason: 'is a link, or runs through one, which can be turned elsewhere',
        remedy: 'name the real path in the rule',
      }
    case 'other':
      return {
        reason: 'is a FIFO, a socket or a device, which cannot be covered',
        remedy: 'remove it',
      }
    default:
      return undefined
  }
}

function missingName({ path }: Pick<Node, 'path'>, { at, adapter }: WorkspaceMount): MissingName | undefined {
  const root = adapter?.hostPath?.(mountRoot)
  return root === undefined ? undefined : { root, path: relativeTo(path, at) }
}
