import type { WorkspaceError } from '../errors.ts'
import { isWithin, parentPath, relativeTo } from '../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'
import { ALL, READ, WRITE, rightFor } from '../policy/access.ts'
import type { Namespace, NamespaceNode } from '../policy/namespace.ts'
import { RulePolicy, ruleRights } from '../policy/policy.ts'
import type { AccessRequest, Decision, FileOperation, Need, Policy, SubtreeRule } from '../policy/types.ts'
import { virtualError } from './errors.ts'
import { mountRuleName } from './mounts.ts'
import type { WorkspaceMount } from './mounts.ts'

/** Where an allowed path lies. */
export interface Located {
  readonly virtual: VirtualPath
  readonly node: NamespaceNode<WorkspaceMount>
  /** Undefined for a synthetic directory above the mounts. */
  readonly mount: WorkspaceMount | undefined
  /** Inside the mount. */
  readonly path: MountPath
}

const allowed: Decision = { effect: 'allow' }

/** The one place where mounts, reserved names and policy say yes or no to a path. Synchronous, without I/O. */
export class Gate {
  readonly namespace: Namespace<WorkspaceMount>
  readonly policy: Policy
  readonly #rulePolicy: RulePolicy | undefined
  readonly #root: VirtualPath
  /** Some rule can only be judged path by path: recursive operations must ask for each entry. */
  readonly judgesEntries: boolean

  constructor(namespace: Namespace<WorkspaceMount>, policy: Policy, root: VirtualPath) {
    this.namespace = namespace
    this.policy = policy
    this.#root = root
    this.#rulePolicy = policy instanceof RulePolicy ? policy : undefined
    this.judgesEntries = this.#rulePolicy === undefined || this.#rulePolicy.apiOnlyRules().length > 0
  }

  /** @throws WorkspaceError for everything that may not be, with the rule and the remedy. */
  admit(operation: FileOperation, path: VirtualPath, need: Need, size?: number): Located {
    const node = this.namespace.find(path)
    if (node.reserved) throw reservedError(operation, path, need)
    const mount = node.mount
    const decision = this.#judge(node, { operation, path, need, size })
    if (decision.effect === 'deny') throw denialError(operation, path, decision)
    if (mount === undefined) return this.#synthetic(operation, path, need, node)
    return { virtual: path, node, mount, path: relativeTo(path, mount.at) }
  }

  /** {@link admit} as a decision. */
  decide(request: AccessRequest): Decision {
    return this.#judge(this.namespace.find(request.path), request)
  }

  #judge(node: NamespaceNode<WorkspaceMount>, request: AccessRequest): Decision {
    const decision =
      this.#rulePolicy === undefined ? this.policy.decide(request) : this.#rulePolicy.decideAt(node, request)
    if (decision.effect === 'deny') return decision
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

  /** What one rule gives at a path; the scratch is exempt from a rule that does not name it. */
  ruleRights(rule: SubtreeRule, path: VirtualPath): number {
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

  /** What rules deny outright, below the root. */
  deniedEntries(): { rule: SubtreeRule; path: VirtualPath }[] {
    return this.policy
      .subtreeRules()
      .flatMap((rule) =>
        rule.entries
          .filter(({ path, access }) => access === 'none' && path !== '/')
          .map(({ path }) => ({ rule, path })),
      )
  }

  /** The rule has an entry for exactly this path. */
  names(rule: SubtreeRule, path: VirtualPath): boolean {
    return rule.entries.some((entry) => entry.path === path)
  }

  /** Rights at a node, mount access included. */
  rightsAt(node: NamespaceNode<WorkspaceMount>): number {
    return node.rights & (node.mount?.access === 'read-only' ? READ : ALL)
  }

  /**
   * Checks that a recursive operation has its right on every rule and mount below `path`.
   *
   * @throws WorkspaceError of the first that refuses, before anything is touched.
   */
  admitBelow(operation: FileOperation, path: VirtualPath, needs: readonly Need[]): void {
    const variant = this.#rulePolicy?.variants.leadingTo(path)
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
        if (decision.effect === 'deny') throw denialError(operation, below.path, decision)
      }
    }
  }

  /** A mount point, or a directory that leads to one, cannot be removed or renamed. */
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

  /** Subtrees below `path` that may not be read: listed, not entered. */
  unreadableBelow(path: VirtualPath): VirtualPath[] {
    const found: VirtualPath[] = []
    for (const node of this.namespace.below(path)) {
      if ((node.rights & READ) === 0) found.push(node.path)
    }
    return found
  }

  /** Names of the system directly below `path`. */
  reservedBelow(path: VirtualPath): VirtualPath[] {
    const found: VirtualPath[] = []
    for (const node of this.namespace.below(path)) if (node.reserved) found.push(node.path)
    return found
  }

  /** Not shown in a listing that started at `start`: the system's names, the scratch, what lies in a denied variant. */
  isHidden(path: VirtualPath, start: VirtualPath): boolean {
    const node = this.namespace.find(path)
    if (node.reserved || (node.mount?.scratch === true && !this.#inScratch(start))) return true
    return this.hasVariants && this.isVariant(parentPath(path))
  }

  #inScratch(path: VirtualPath): boolean {
    return this.namespace.find(path).mount?.scratch === true
  }

  /** Some rule denies a name, and so its variants. */
  get hasVariants(): boolean {
    return this.#rulePolicy?.variants.empty === false
  }

  /** Something below `path` may be a variant of a denied name. */
  mayHoldVariants(path: VirtualPath): boolean {
    return this.#rulePolicy?.variants.leadsOnFrom(path) === true
  }

  /** `path`, whose last name is `name`, is a variant of a denied one, or lies below such a variant. */
  isVariant(path: VirtualPath, name?: string): boolean {
    const variants = this.#rulePolicy?.variants
    if (variants === undefined || (name !== undefined && !variants.couldEndIn(name))) return false
    return variants.match(path) !== undefined
  }

  /** A listing shows name and type of such an entry, and nothing else. */
  cannotStat(path: VirtualPath): boolean {
    const node = this.namespace.find(path)
    return (node.rights & READ) === 0 || this.isVariant(path)
  }

  /** A hit of a search that started at `start` may be shown. */
  mayShow(path: VirtualPath, start: VirtualPath): boolean {
    if (this.isHidden(path, start)) return false
    if (!this.judgesEntries && !this.hasVariants) return true
    return this.decide({ operation: 'search', path, need: 'read' }).effect === 'allow'
  }

  /** The deepest ancestor of `path`, in its mount, that may not be written: it must be there already. */
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

export function denialError(
  operation: string,
  path: VirtualPath,
  { code, rule, reason, remedy }: Extract<Decision, { effect: 'deny' }>,
): WorkspaceError {
  return virtualError({ code, operation, path, rule, reason, remedy })
}

function reservedError(operation: string, path: VirtualPath, need: Need): WorkspaceError {
  return need === 'write'
    ? virtualError({
        code: 'EBUSY',
        operation,
        path,
        reason: 'is a name that the system needs',
        remedy: 'use another name, or mount the project at `/workspace`',
      })
    : virtualError({
        code: 'ENOENT',
        operation,
        path,
        reason: 'does not exist: the name is reserved for the system',
      })
}
