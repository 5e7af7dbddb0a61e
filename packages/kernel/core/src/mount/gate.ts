import { isWithin, parentPath, relativeTo, rootPath, topName } from '../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'
import { ALL, READ, WRITE, rightFor, ruleRights } from '../policy/access.ts'
import type { DeclaredRules, RefusalOptions } from '../policy/declared-rules.ts'
import { grantedHosts } from '../policy/host-list.ts'
import type { Namespace, NamespaceNode } from '../policy/namespace.ts'
import { RulePolicy } from '../policy/policy.ts'
import type { FileOperation, Need } from '../contract/operations.ts'
import type { AccessRequest, Asked, Decision, HostsRule, Policy, PublishRule, SubtreeRule } from '../contract/policy.ts'
import { denialError, reservedError, systemDenial } from './denials.ts'
import { virtualError } from './errors.ts'
import { mountRuleName } from '../policy/namespace.ts'
import type { WorkspaceMount } from './mounts.ts'

export interface Located {
  readonly virtual: VirtualPath
  readonly node: NamespaceNode<WorkspaceMount>
  /** Undefined for a synthetic directory above the mounts. */
  readonly mount: WorkspaceMount | undefined
  readonly path: MountPath
}

export interface GateOptions {
  readonly namespace: Namespace<WorkspaceMount>
  readonly policy: Policy
  readonly declared: DeclaredRules
  readonly root: VirtualPath
  /** Places of rules that ask, to which those rules do not apply. Default: none. */
  readonly grants?: readonly Asked[] | undefined
}

const allowed: Decision = { effect: 'allow' }

/** Decides about a path by mounts, reserved names and the policy. Synchronous, without I/O. */
export class Gate {
  readonly namespace: Namespace<WorkspaceMount>
  readonly policy: Policy
  /** The policy's rules that are data instead of functions, for any policy engine. */
  readonly declared: DeclaredRules
  readonly #rulePolicy: RulePolicy | undefined
  readonly #root: VirtualPath
  readonly grants: readonly Asked[]
  /** True if a rule is a function, which must be called for each path. */
  readonly #asksFunctions: boolean
  /** Names at `/` where commands see the system's entries. */
  #system: ReadonlySet<string> = new Set()

  constructor({ namespace, policy, declared, root, grants = [] }: GateOptions) {
    this.grants = grants
    this.namespace = namespace
    this.policy = policy
    this.declared = declared
    this.#root = root
    this.#rulePolicy = policy instanceof RulePolicy ? policy : undefined
    this.#asksFunctions = this.#rulePolicy === undefined || this.#rulePolicy.apiOnlyRules().length > 0
  }

  /** The same gate with other rules. */
  with({ declared, grants }: Pick<GateOptions, 'declared' | 'grants'>): Gate {
    const gate = new Gate({ namespace: this.namespace, policy: this.policy, declared, root: this.#root, grants })
    gate.reserve(this.#system)
    return gate
  }

  /** Refuses new entries with these names at `/`, because commands see the system's entries there. */
  reserve(names: Iterable<string>): void {
    this.#system = new Set(names)
  }

  isReserved(path: VirtualPath): boolean {
    const node = this.namespace.find(path)
    return node.reserved || this.#refuses(node, { operation: 'write', path, need: 'write' })
  }

  /** Refuses writing at system names. Allows reading and deleting: an existing entry with such a name prevents commands. */
  #refuses({ mount }: NamespaceNode<WorkspaceMount>, { operation, path, need }: AccessRequest): boolean {
    if (need !== 'write' || operation === 'delete' || this.#system.size === 0) return false
    return mount?.at === rootPath && this.#system.has(topName(path))
  }

  /** Returns whether a rule can treat entries below `path` differently. If so, recursive operations check each entry. */
  judgesEntriesBelow(path: VirtualPath): boolean {
    return this.#asksFunctions || this.declared.mayMatchBelow(path)
  }

  get judgesSizes(): boolean {
    return this.#asksFunctions
  }

  admit(operation: FileOperation, path: VirtualPath, need: Need, size?: number): Located {
    const node = this.namespace.find(path)
    if (node.reserved || this.#refuses(node, { operation, path, need })) throw reservedError(operation, path, need) // @defence ` || this.#refuses(…)` commands would see the machine's: are made by no operation
    const mount = node.mount
    const decision = this.#judge(node, { operation, path, need, size })
    if (decision.effect === 'deny') throw denialError(operation, path, decision)
    if (mount === undefined) return this.#synthetic(operation, path, need, node)
    return { virtual: path, node, mount, path: relativeTo(path, mount.at) }
  }

  decide(request: AccessRequest): Decision {
    const node = this.namespace.find(request.path)
    return this.#refuses(node, request) ? systemDenial : this.#judge(node, request)
  }

  /** Evaluates a request. As for commands, declared rules apply even if the caller's own policy engine allows the request. */
  #judge(node: NamespaceNode<WorkspaceMount>, request: AccessRequest, options?: RefusalOptions): Decision {
    const own = this.#rulePolicy === undefined ? this.policy.decide(request) : allowed
    if (own.effect === 'deny') return own
    const refusal = this.declared.refusal(node, request, options)
    if (refusal !== undefined) return refusal
    const last = this.#rulePolicy?.decidePredicates(request) ?? allowed
    if (last.effect === 'deny') return last
    if (request.need === 'write' && node.mount?.access === 'read-only') {
      return {
        effect: 'deny',
        code: 'EROFS',
        rule: mountRuleName(node.mount.at),
        reason: `lies in the read-only mount \`${node.mount.at}\``,
        remedy: `write outside \`${node.mount.at}\``,
      }
    }
    return allowed
  }

  #synthetic(operation: FileOperation, path: VirtualPath, need: Need, node: NamespaceNode<WorkspaceMount>): Located {
    if (need === 'write') {
      throw virtualError({
        code: 'EROFS',
        operation,
        path,
        reason: 'lies above the mounts, where nothing can be written',
        remedy: `write below \`${this.#root}\``,
      })
    }
    if (node.path !== path || !node.leadsToMount) {
      throw virtualError({
        code: 'ENOENT',
        operation,
        path,
        reason: 'does not exist',
        remedy: `the workspace's files are below \`${this.#root}\``,
      })
    }
    return { virtual: path, node, mount: undefined, path: '/' as MountPath }
  }

  /** Returns the rights that one rule leaves at a path. Does not apply to the scratch unless the rule names it. */
  ruleRights(rule: SubtreeRule<VirtualPath>, path: VirtualPath): number {
    const scratch = this.namespace.scratch
    if (
      scratch !== undefined &&
      isWithin(path, scratch) &&
      !rule.entries.some((entry) => isWithin(entry.path, scratch))
    ) {
      return ALL
    }
    return ruleRights(rule, path)
  }

  /** Returns the names of rules that only apply at the file API, because they are functions. */
  apiOnlyRules(): readonly string[] {
    return this.policy.apiOnlyRules?.() ?? []
  }

  /** Returns the host lists, each of which limits the network of commands. */
  hostRules(): readonly HostsRule[] {
    return (this.policy.hostRules?.() ?? []).map((rule) => grantedHosts(rule, this.grants))
  }

  publishRules(): readonly PublishRule[] {
    return this.policy.publishRules?.() ?? []
  }

  rightsAt(node: NamespaceNode<WorkspaceMount>): number {
    return node.rights & (node.mount?.access === 'read-only' ? READ : ALL)
  }

  /** Checks a recursive operation against every rule and mount below `path`, before any change. */
  admitBelow(operation: FileOperation, path: VirtualPath, needs: readonly Need[]): void {
    const removes = operation === 'delete' && this.namespace.find(path).mount?.caseSensitive === true
    const variant = removes ? undefined : this.declared.variants.leadingTo(path)
    if (variant !== undefined) {
      throw virtualError({
        code: 'EACCES',
        operation,
        path,
        rule: variant.name,
        reason: 'may hold a variant of a denied name',
        remedy: 'work on its entries one by one',
      })
    }
    for (const below of this.namespace.below(path)) {
      if (below.reserved) continue
      for (const need of needs) {
        if ((this.rightsAt(below) & rightFor(need)) !== 0) continue
        const decision = this.#judge(below, { operation, path: below.path, need })
        if (decision.effect === 'deny') throw denialError(operation, below.path, decision) // @defence a recursive move
      }
    }
  }

  /** Returns whether a rule names an entry below `path`, or denies another spelling of a name on the path. */
  isNamedAround(path: VirtualPath): boolean {
    const { variants } = this.declared
    return variants.match(path) !== undefined || !this.namespace.below(path).next().done
  }

  /** Admits the move of a known link as {@link admit} does, but also under rules for other spellings of its name. */
  admitLink(operation: FileOperation, path: VirtualPath): void {
    const node = this.namespace.find(path)
    for (const need of ['read', 'write'] as const) {
      const decision = this.#judge(node, { operation, path, need }, { ignoreVariants: true })
      if (decision.effect === 'deny') throw denialError(operation, path, decision)
    }
  }

  refuseMountPoint(operation: FileOperation, { virtual, node }: Located): void {
    if (node.path !== virtual || !node.leadsToMount) return
    const itself = node.mount?.at === virtual
    throw virtualError({
      code: 'EBUSY',
      operation,
      path: virtual,
      reason: itself ? 'is a mount point' : 'holds a mount point',
      remedy: itself ? 'use what lies below it' : 'leave the directory, and use its other entries one by one',
    })
  }

  /** Returns the deepest ancestor of the path, in its mount, that rules make read-only. No call may create this directory. */
  unwritableAncestor({ virtual, node, mount }: Located): VirtualPath | undefined {
    if (mount === undefined) return undefined
    let below: VirtualPath = virtual
    for (
      let current: NamespaceNode<WorkspaceMount> | undefined = node;
      current !== undefined;
      current = current.parent
    ) {
      if (current.mount !== mount) break
      if ((this.rightsAt(current) & WRITE) === 0) {
        const ancestor = parentPath(below)
        return isWithin(ancestor, current.path) ? ancestor : current.path
      }
      below = current.path
    }
    return undefined
  }
}
