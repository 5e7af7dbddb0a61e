import type { HostPath, MountPath, VirtualPath } from '../path/virtual-path.ts'
import type { HostsRule } from './policy.ts'
import type { GuaranteeField } from './guarantees.ts'

/** Where a name is that a rule protects and that nothing has yet. */
export interface MissingName {
  /** The directory of its mount on this machine. */
  readonly root: HostPath
  /** From there. Its parents can be missing too. */
  readonly path: MountPath
  /** Held by a file with this content. Absent: by an empty directory. */
  readonly content?: string | undefined
}

/**
 * - `mount`: the root of a mount, at its own path.
 * - `subtree`: a part of a mount whose access differs from what surrounds it.
 * - `pin`: an ancestor of a stricter part, bound onto itself with unchanged access, so that it cannot be renamed away.
 * - `mask`: a denied file or directory: an empty one of mode 000 lies over it.
 * - `closed`: a denied directory that holds an allowed part: it can be passed through, not listed; the part follows.
 * - `scratch`: the workspace's `/tmp`.
 */
export type BindKind = 'mount' | 'subtree' | 'pin' | 'mask' | 'closed' | 'scratch'

export interface Bind {
  readonly kind: BindKind
  /** Where it appears. No component may be a link when it is bound. */
  readonly at: VirtualPath
  readonly type: 'directory' | 'file'
  /**
   * The host path that appears there; absent for `mask` and `closed`, which show nothing of the host. Open it without
   * following links.
   */
  readonly source?: HostPath | undefined
  readonly access: 'read-write' | 'read-only' | 'none'
  /** The rules that ask for it. */
  readonly rules: readonly string[]
  /**
   * Nothing is there yet: the executor reserves the name while the command runs, and removes the reservation
   * afterwards.
   */
  readonly missing?: MissingName | undefined
}

/** One thing that a policy asks of commands, and the guarantee that an executor must hold for it. */
export interface Restriction {
  /** The name of the rule; `mount:/at` for a read-only mount. `acknowledge` takes this name. */
  readonly rule: string
  readonly path: VirtualPath
  readonly field: GuaranteeField
  /** Why no executor could enforce it now (a FIFO has the name), and the remedy. */
  readonly problem?: RestrictionProblem | undefined
  /** Nothing is there yet: held by executors that can reserve the name. */
  readonly missing?: MissingName | undefined
}

/** Why something cannot be held, as a sentence without its subject, and the remedy. */
export interface RestrictionProblem {
  readonly reason: string
  readonly remedy: string
}

/** A name under a rule that is a link, or runs through one. Its target is bound; the link is compared after the command. */
export interface RuledLink {
  readonly path: VirtualPath
  readonly rules: readonly string[]
  /** The access that the rules leave. */
  readonly access: 'read-only' | 'none'
  /** The links on the way and where they lead, to be compared. */
  readonly way: string
  /** Why its target is not covered, which no command is refused for. */
  readonly problem?: RestrictionProblem | undefined
}

/**
 * The parts of a command's file tree, compiled from mounts and policy: neutral towards executors. Computed afresh for
 * every command, since it depends on what is on the disk.
 */
export interface BindPlan {
  /** The workspace's root: working directory, `HOME`, and the first mount's place. */
  readonly root: VirtualPath
  /** Parents before children; a later bind lies over an earlier one. */
  readonly binds: readonly Bind[]
  /**
   * Further places at which the whole view appears: for `/workspace` every bind, the scratch and the system's names are
   * repeated below it.
   */
  readonly aliases: readonly VirtualPath[]
  readonly restrictions: readonly Restriction[]
  /** Directories across whose border rename and link are `EXDEV` in commands, though one mount lies on both sides. */
  readonly renameBorders: readonly VirtualPath[]
  /** Paths that matched rules by pattern when the plan was made. */
  readonly matched?: readonly VirtualPath[] | undefined
  /** The names under rules that are links. Default: none. */
  readonly links?: readonly RuledLink[] | undefined
  /**
   * Lists of hosts that narrow the network of this command. An executor whose `network` is `names` holds each of them; where it is
   * `kernel` or `interpreter` there is no network to narrow. Default: none.
   */
  readonly hostRules?: readonly HostsRule[] | undefined
}
