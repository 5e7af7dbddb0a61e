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
      /** Follows the path in a sentence: "is outside the output root `/out`". */
      readonly reason: string
      /** "write below `/out`" */
      readonly remedy: string
    }

/** One path and what may be done at and below it. The path is written as for any method of the workspace. */
export interface SubtreeEntry<Path extends string = string> {
  readonly path: Path
  readonly access: Access
}

/** Inside one rule the longest path decides; a path that no entry covers is left to the other rules. Can be compiled. */
export interface SubtreeRule<Path extends string = string> {
  readonly kind: 'subtree'
  readonly name: string
  readonly entries: readonly SubtreeEntry<Path>[]
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
  /** Synchronous and pure. False, or an object with the reason, refuses. An exception refuses as well. */
  readonly test: (request: AccessRequest) => boolean | { readonly reason: string; readonly remedy?: string | undefined }
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** A documented exception: adds an entry to rules that confine, which are otherwise never widened. See `rules.allow`. */
export interface ExceptionRule<Path extends string = string> {
  readonly kind: 'exception'
  readonly name: string
  readonly entry: SubtreeEntry<Path>
  /** Names of the rules it is an exception to; absent: every `withinWorkspace` and `withinOutput` rule. */
  readonly from?: readonly string[] | undefined
  /** Why the exception is needed: shown by `explain`. */
  readonly justification: string
}

/**
 * Restricts names by pattern anywhere: private keys, `.env` files, hooks. Gives a match and everything below it `access`.
 * In commands it covers the matches at their start. Case never matters, and leading dots are ordinary. Only restricts.
 */
export interface PatternRule {
  readonly kind: 'pattern'
  readonly name: string
  /** The rights that remain at a match: none, or reading. */
  readonly access: 'none' | 'read-only'
  /** Globs over workspace paths; without a leading `/` at any depth, with `./` from the workspace's root. */
  readonly patterns: readonly string[]
  /** Globs for names of files and links; a directory of that name stays. The file API refuses everything there but making a directory. */
  readonly files?: readonly string[] | undefined
  /** Globs of names that are left alone, although a pattern matches them. A path below a match is never left alone. */
  readonly except?: readonly string[] | undefined
  /** Globs of directories below which nothing is looked at. The directory itself is. */
  readonly skip?: readonly string[] | undefined
  /** Why, for messages. Follows the path: "holds a secret". */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** One program that a command line starts, wherever in the line: in a list, pipeline, substitution, function or wrapper. */
export interface SimpleCommand {
  /** The program's name without its directory: `rm` for `/bin/rm`. `undefined`: not known before the shell runs (`$tool`). */
  readonly program: string | undefined
  /** The program as written, after quotes are taken away: `/bin/rm`. */
  readonly path: string | undefined
  /** Its arguments after quotes are taken away. `undefined`: cannot be known before the shell runs (a variable, a glob). */
  readonly arguments: readonly (string | undefined)[]
  /** Source text of program and arguments. */
  readonly text: string
  /** Programs that start it: `['sudo', 'env']`. Each of those is a command of its own in the list as well. */
  readonly wrappers: readonly string[]
}

export interface CommandParserOptions {
  /** The shell that was asked for, if any. */
  readonly shell?: string | undefined
}

/** Finds every simple command of a line, as `@ws/command-parser` does. An exception refuses the command. */
export type CommandParser = (line: string, options: CommandParserOptions) => readonly SimpleCommand[]

/**
 * Looks at commands before they run. **A guard rail, and no boundary**: it sees the line, not what programs do.
 * For a defence, use subtree rules and an executor's guarantees.
 */
export interface CommandRule {
  readonly kind: 'command'
  readonly name: string
  readonly parser: CommandParser
  /** Asked for every simple command; false, a reason or an exception refuses the whole line. Synchronous and pure. */
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

/** Decides on rights at paths: pure, synchronous, without I/O. Asked before every operation, and again where a link leads. */
export interface Policy {
  decide(request: AccessRequest): Decision
  /** The part that compiles into binds. It also holds at the file API. Further refusals of `decide` cannot be enforced in commands. */
  subtreeRules(): readonly SubtreeRule[]
  /** Rules by pattern, which hold at both doors in the same way. Default: none. */
  patternRules?(): readonly PatternRule[]
  /** Lists of hosts, each of which narrows the connections of commands. Default: none. */
  hostRules?(): readonly HostsRule[]
  /** Names of the rules that hold at the API only; commands need `acknowledge` for them. Default: none. */
  apiOnlyRules?(): readonly string[]
  /** Asked before a command runs. A guard rail, and no boundary. Default: every command is allowed. */
  decideCommand?(request: CommandLineRequest): Decision
}
