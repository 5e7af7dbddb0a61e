import type { HostPath, MountPath, VirtualPath } from '../path/virtual-path.ts'
import type { HostsRule } from './policy.ts'
import type { GuaranteeField } from './guarantees.ts'

export interface MissingName {
  /** The directory of the mount on this machine. */
  readonly root: HostPath
  /** The missing path, relative to `root`. Its parents may also be missing. */
  readonly path: MountPath
  /** The content of the file that reserves the name. Absent: an empty directory reserves the name. */
  readonly content?: string | undefined
}

/**
 * - `mount`: the root of a mount.
 * - `subtree`: a part of a mount with other access than its surroundings.
 * - `pin`: an ancestor of a stricter part, bound onto itself so that commands cannot rename it.
 * - `mask`: a denied entry, covered by an empty entry of mode 000.
 * - `closed`: a denied directory that contains an allowed entry. Commands can pass through the directory, but cannot list it.
 * - `scratch`: the workspace's `/tmp`.
 */
export type BindKind = 'mount' | 'subtree' | 'pin' | 'mask' | 'closed' | 'scratch'

export interface Bind {
  readonly kind: BindKind
  /** The path at which commands see the bind. At the time of binding, no component may be a link. */
  readonly at: VirtualPath
  readonly type: 'directory' | 'file'
  /** The host path that is bound to `at`; absent for `mask` and `closed`. Open it without following links. */
  readonly source?: HostPath | undefined
  readonly access: 'read-write' | 'read-only' | 'none'
  readonly rules: readonly string[]
  /** Set for a path that does not exist yet. The executor reserves the name while the command runs. */
  readonly missing?: MissingName | undefined
}

export interface Restriction {
  /** The name of the rule; `mount:/at` for a read-only mount. Callers pass this name in `acknowledge`. */
  readonly rule: string
  readonly path: VirtualPath
  readonly field: GuaranteeField
  /** Why no executor can enforce the restriction now, and the remedy. Example: the entry is a FIFO. */
  readonly problem?: RestrictionProblem | undefined
  readonly missing?: MissingName | undefined
}

/** `reason` continues a sentence whose subject is the path. */
export interface RestrictionProblem {
  readonly reason: string
  readonly remedy: string
}

/** A link under a rule, or a path through a link. The target is bound. After the command, the link is compared with its earlier state. */
export interface RuledLink {
  readonly path: VirtualPath
  readonly rules: readonly string[]
  readonly access: 'read-only' | 'none'
  /** The links on the path, and their targets. */
  readonly way: string
  /** Why the target of the link is not covered. This problem does not refuse a command. */
  readonly problem?: RestrictionProblem | undefined
}

/** The file tree of one command, for any executor. Each command gets a new plan, because the plan depends on the state of the disk. */
export interface BindPlan {
  /** The path of the first mount: the default working directory and `HOME` of commands. */
  readonly root: VirtualPath
  /** Parents come before children. A later bind covers an earlier one. */
  readonly binds: readonly Bind[]
  /** Other paths at which the whole tree also appears, such as `/workspace`. */
  readonly aliases: readonly VirtualPath[]
  readonly restrictions: readonly Restriction[]
  /** Directories that commands cannot rename or link entries into or out of (`EXDEV`), even within one mount. */
  readonly renameBorders: readonly VirtualPath[]
  /** Paths that matched pattern rules when the plan was made. */
  readonly matched?: readonly VirtualPath[] | undefined
  readonly links?: readonly RuledLink[] | undefined
  /** Host lists that narrow the network of this command, for executors whose `network` is `names`. Default: none. */
  readonly hostRules?: readonly HostsRule[] | undefined
}
