import type { ErrorCode } from '../errors.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

export type Access = 'read-write' | 'read-only' | 'write-only' | 'none'

export type FileOperation =
  | 'stat'
  | 'read'
  | 'list'
  | 'search'
  | 'readSymlink'
  | 'write'
  | 'append'
  | 'createDirectory'
  | 'createSymlink'
  | 'delete'
  | 'move'
  | 'copy'

/** The right that an operation needs at one of its paths. A copy needs `read` at its source and `write` at its destination. */
export type Need = 'read' | 'write'

export interface AccessRequest {
  readonly operation: FileOperation
  readonly path: VirtualPath
  readonly need: Need
  /** Bytes, where they are known: a file's size before it is written; for a stream, what has come so far. */
  readonly size?: number | undefined
}

export type Decision =
  | { readonly effect: 'allow' }
  | {
      readonly effect: 'deny'
      /** `EACCES` for a rule, `EROFS` for a read-only mount. */
      readonly code: Extract<ErrorCode, 'EACCES' | 'EROFS'>
      readonly rule: string
      /** Follows the path in a sentence: "is outside the output root `/out`". */
      readonly reason: string
      /** "write below `/out`" */
      readonly remedy: string
    }

/** One path and what may be done at and below it. */
export interface SubtreeEntry {
  readonly path: VirtualPath
  readonly access: Access
}

/** Inside one rule the longest path decides; a path that no entry covers is left to the other rules. Can be compiled. */
export interface SubtreeRule {
  readonly kind: 'subtree'
  readonly name: string
  readonly entries: readonly SubtreeEntry[]
  /** It confines to a part of the tree, so an {@link ExceptionRule} that names no rule applies to it. */
  readonly confines?: true | undefined
  /** Why, for messages: "is outside the output root `/out`". */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** Only ever restricts, and only at the file API. */
export interface PredicateRule {
  readonly kind: 'predicate'
  readonly name: string
  /** Synchronous and pure. False, or an object with the reason, refuses. What it throws refuses as well. */
  readonly test: (request: AccessRequest) => boolean | { readonly reason: string; readonly remedy?: string | undefined }
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/**
 * A documented exception: adds an entry to rules that confine, which are otherwise never widened.
 * See `rules.allow`.
 */
export interface ExceptionRule {
  readonly kind: 'exception'
  readonly name: string
  readonly entry: SubtreeEntry
  /** Names of the rules it is an exception to; absent: every `withinWorkspace` and `withinOutput` rule. */
  readonly from?: readonly string[] | undefined
  /** Why the exception is needed: shown by `explain`. */
  readonly justification: string
}

export type Rule = SubtreeRule | PredicateRule | ExceptionRule

/** Who may do what where. Pure, synchronous, without I/O; asked before every operation, and again where a link leads. */
export interface Policy {
  decide(request: AccessRequest): Decision
  /** The part that can be compiled into binds. What `decide` refuses beyond it cannot be enforced in commands. */
  subtreeRules(): readonly SubtreeRule[]
  /** Names of the rules that hold at the API only; commands need `acknowledge` for them. Default: none. */
  apiOnlyRules?(): readonly string[]
}
