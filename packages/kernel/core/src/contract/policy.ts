import type { FileOperation, Need } from './operations.ts'
import type { ErrorCode } from '../errors.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

export type Access = 'read-write' | 'read-only' | 'write-only' | 'none'

export interface AccessRequest {
  readonly operation: FileOperation
  readonly path: VirtualPath
  /** A copy needs `read` at its source and `write` at its destination. */
  readonly need: Need
  /** Bytes, where they are known: a file's size before it is written; for a stream, the bytes so far. */
  readonly size?: number | undefined
}

export type Decision =
  | { readonly effect: 'allow' }
  | {
      readonly effect: 'deny'
      /** `EACCES` for a rule, `EROFS` for a read-only mount. */
      readonly code: Extract<ErrorCode, 'EACCES' | 'EROFS'>
      readonly rule: string
      /** A part of a sentence, printed directly after the path: "is outside the output root `/out`". */
      readonly reason: string
      /** "write below `/out`" */
      readonly remedy: string
    }

/** One path, and the access at and below it. */
export interface SubtreeEntry<Path extends string = string> {
  readonly path: Path
  readonly access: Access
}

/** The rule's longest matching path decides; other rules decide about other paths. Can be compiled. */
export interface SubtreeRule<Path extends string = string> {
  readonly kind: 'subtree'
  readonly name: string
  readonly entries: readonly SubtreeEntry<Path>[]
  /** A confining rule: an {@link ExceptionRule} without names applies to it. */
  readonly confines?: true | undefined
  /** Why, for messages: "is outside the output root `/out`". */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** A rule that can only restrict access, and only at the file API. */
export interface PredicateRule {
  readonly kind: 'predicate'
  readonly name: string
  /** Synchronous and pure. False, or an object with the reason, refuses. An exception refuses as well. */
  readonly test: (request: AccessRequest) => boolean | { readonly reason: string; readonly remedy?: string | undefined }
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** A documented exception to confining rules. See `rules.allow`. */
export interface ExceptionRule<Path extends string = string> {
  readonly kind: 'exception'
  readonly name: string
  readonly entry: SubtreeEntry<Path>
  /** Names of the rules to which the exception applies; absent: every `withinWorkspace` and `withinOutput` rule. */
  readonly from?: readonly string[] | undefined
  /** Why the exception is needed: shown by `explain`. */
  readonly justification: string
}

/**
 * Restricts names by pattern anywhere: private keys, `.env` files, hooks. Gives a match and everything below it `access`.
 * For commands, only matches that exist at their start are covered. Case never matters, and leading dots are ordinary. Only restricts.
 */
export interface PatternRule {
  readonly kind: 'pattern'
  readonly name: string
  /** The rights that remain at a match: none, or reading. */
  readonly access: 'none' | 'read-only'
  /** Globs over workspace paths; without a leading `/` at any depth, with `./` from the workspace's root. */
  readonly patterns: readonly string[]
  /** Globs for names of files and links. A directory of such a name is allowed, and the file API may only make a directory there. */
  readonly files?: readonly string[] | undefined
  /** Globs of names that do not match. They have no effect below a match. */
  readonly except?: readonly string[] | undefined
  /** Globs of directories whose entries are skipped; the directory itself is still compared. */
  readonly skip?: readonly string[] | undefined
  /** A part of a sentence for messages, printed directly after the path: "holds a secret". */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** One program that a command line starts, anywhere in it. */
export interface SimpleCommand {
  /** Without its directory: `rm` for `/bin/rm`. `undefined`: known only at run time (`$tool`). */
  readonly program: string | undefined
  /** As written, without quotes: `/bin/rm`. */
  readonly path: string | undefined
  /** Without quotes. `undefined`: known only at run time (a variable, a glob). */
  readonly arguments: readonly (string | undefined)[]
  readonly text: string
  /** Programs that start this program: `['sudo', 'env']`. Each is in the list as well. */
  readonly wrappers: readonly string[]
}

export interface CommandParserOptions {
  readonly shell?: string | undefined
}

/** Finds every simple command of a line, as `@ws/command-parser` does. An exception refuses the command. */
export type CommandParser = (line: string, options: CommandParserOptions) => readonly SimpleCommand[]

/**
 * Checks commands before they run. **A guard rail, and no boundary**: the rule sees the line, not the acts of programs.
 * For a defence, use subtree rules and an executor's guarantees.
 */
export interface CommandRule {
  readonly kind: 'command'
  readonly name: string
  readonly parser: CommandParser
  /** Called for every simple command. False, a reason or an exception refuses the whole line. Synchronous and pure. */
  readonly test: (command: SimpleCommand) => boolean | { readonly reason: string; readonly remedy?: string | undefined }
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** Narrows the hosts of commands and tools to those also in the executor's own list. An executor without a list refuses commands. */
export interface HostsRule {
  readonly kind: 'hosts'
  readonly name: string
  /** As in `network.allow` of the bubblewrap executor: `registry.npmjs.org`, `*.npmjs.org`, `db.internal:5432`. Empty: none. */
  readonly hosts: readonly string[]
}

export interface CommandLineRequest {
  /** The normalised line, for every form of the command [LS6]. */
  readonly line: string
  readonly shell?: string | undefined
}

/** A rule with workspace paths. `createWorkspace` resolves aliases and relative paths, and refuses a rule without effect (`EINVAL`). */
export type Rule<Path extends string = string> =
  | SubtreeRule<Path>
  | PatternRule
  | PredicateRule
  | ExceptionRule<Path>
  | CommandRule
  | HostsRule

/** Decides on rights at paths: pure, synchronous, without I/O. Called before every operation, and again for the target of a link. */
export interface Policy {
  decide(request: AccessRequest): Decision
  /** The rules that compile into binds. They also apply at the file API. Further refusals of `decide` cannot be enforced in commands. */
  subtreeRules(): readonly SubtreeRule[]
  /** Rules by pattern, which apply at both doors in the same way. Default: none. */
  patternRules?(): readonly PatternRule[]
  /** Lists of hosts, each of which narrows the connections of commands. Default: none. */
  hostRules?(): readonly HostsRule[]
  /** Names of the rules that apply at the API only. Commands need `acknowledge` for them. Default: none. */
  apiOnlyRules?(): readonly string[]
  /** Asked before a command runs. A guard rail, and no boundary. Default: every command is allowed. */
  decideCommand?(request: CommandLineRequest): Decision
}
