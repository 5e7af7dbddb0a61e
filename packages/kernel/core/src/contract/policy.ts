import type { FileOperation, Need } from './operations.ts'
import type { ErrorCode } from '../errors.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

export type Access = 'read-write' | 'read-only' | 'write-only' | 'none'

export interface AccessRequest {
  readonly operation: FileOperation
  readonly path: VirtualPath
  /** A copy needs `read` at its source and `write` at its destination. */
  readonly need: Need
  /** The size in bytes, if known. While a stream is written: the bytes so far. */
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
      /** The next step, as an imperative: "write below `/out`". */
      readonly remedy: string
    }

/** A path, and the access to it and everything below it. */
export interface SubtreeEntry<Path extends string = string> {
  readonly path: Path
  readonly access: Access
}

/** A rule whose longest matching path decides. The rule has no effect on paths that match no entry. An executor can enforce the rule. */
export interface SubtreeRule<Path extends string = string> {
  readonly kind: 'subtree'
  readonly name: string
  readonly entries: readonly SubtreeEntry<Path>[]
  /** True for a confining rule. An {@link ExceptionRule} without `from` applies to every confining rule. */
  readonly confines?: true | undefined
  /** A part of a sentence for messages, printed directly after the path: "is outside the output root `/out`". */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** A rule as a function. It can only restrict access, and only at the file API. */
export interface PredicateRule {
  readonly kind: 'predicate'
  readonly name: string
  /** To refuse, returns false or an object with the reason, or throws. Synchronous and pure. */
  readonly test: (request: AccessRequest) => boolean | { readonly reason: string; readonly remedy?: string | undefined }
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** A documented exception to confining rules. See `rules.allow`. */
export interface ExceptionRule<Path extends string = string> {
  readonly kind: 'exception'
  readonly name: string
  readonly entry: SubtreeEntry<Path>
  /** Names of the rules to which the exception applies. Absent: every `withinWorkspace` and `withinOutput` rule. */
  readonly from?: readonly string[] | undefined
  /** Why the exception is needed. `explain` shows this text. */
  readonly justification: string
}

/**
 * Restricts names by pattern anywhere: private keys, `.env` files, hooks. A match and everything below it get `access`.
 * For a command, covers only matches that exist at its start. Ignores case; a wildcard also matches a leading dot. Never adds rights.
 */
export interface PatternRule {
  readonly kind: 'pattern'
  readonly name: string
  /** The rights that remain at a match: none, or reading. */
  readonly access: 'none' | 'read-only'
  /** Globs for workspace paths. Without a leading `/`, they match at any depth; with `./`, from the workspace's root. */
  readonly patterns: readonly string[]
  /** Globs for names of files and links. Directories may have such names. The file API refuses to create other entries with such names. */
  readonly files?: readonly string[] | undefined
  /** Globs of names that do not match. Below a match, they have no effect. */
  readonly except?: readonly string[] | undefined
  /** Globs of directories whose entries are skipped. The directory itself can still match. */
  readonly skip?: readonly string[] | undefined
  /** True if a person can grant a match to a single call of a tool. See `rules.ask`. */
  readonly asks?: true | undefined
  /** A part of a sentence for messages, printed directly after the path: "holds a secret". */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** One program that a command line starts, at any place in the line. */
export interface SimpleCommand {
  /** The name without its directory: `rm` for `/bin/rm`. `undefined`: known only at run time (`$tool`). */
  readonly program: string | undefined
  /** The program as written, without quotes: `/bin/rm`. */
  readonly path: string | undefined
  /** The arguments without quotes. `undefined`: known only at run time (a variable, a glob). */
  readonly arguments: readonly (string | undefined)[]
  readonly text: string
  /** Programs that start this program: `['sudo', 'env']`. Each wrapper also has its own entry in the list. */
  readonly wrappers: readonly string[]
}

export interface CommandParserOptions {
  readonly shell?: string | undefined
}

/** Finds every simple command of a line, as `@ws/command-parser` does. If the parser throws, the command is refused. */
export type CommandParser = (line: string, options: CommandParserOptions) => readonly SimpleCommand[]

/**
 * Checks commands before they run. **A guard rail, not a boundary**: the rule sees the command line, not what programs do.
 * For protection, use subtree rules and an executor's guarantees.
 */
export interface CommandRule {
  readonly kind: 'command'
  readonly name: string
  readonly parser: CommandParser
  /** Called for every simple command. Synchronous and pure. False, a reason or an exception refuses the whole line. */
  readonly test: (command: SimpleCommand) => boolean | { readonly reason: string; readonly remedy?: string | undefined }
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** Limits commands and tools to hosts that are also in the executor's own list. An executor without a list refuses commands. */
export interface HostsRule {
  readonly kind: 'hosts'
  readonly name: string
  /** Hosts as in `network.allow` of the bubblewrap executor: `registry.npmjs.org`, `*.npmjs.org`, `db.internal:5432`. Empty: no host. */
  readonly hosts: readonly string[]
  /** True: the rule denies these hosts and no other, and a person can grant one to a single call of a tool. See `rules.askHosts`. */
  readonly asks?: true | undefined
  /** For one call: hosts with their ports to which a rule that asks does not apply, such as `db.internal:5432`. */
  readonly granted?: readonly string[] | undefined
  /** For a rule that asks: a part of a sentence for messages, printed directly after the host. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** Narrows the ports that `publish` lets the host reach. */
export interface PublishRule {
  readonly kind: 'publish'
  readonly name: string
  /** Empty: none. */
  readonly ports: readonly number[]
}

/** A place that a rule refuses which asks: a match of a pattern, or a host. */
export interface Asked {
  readonly rule: string
  readonly path?: VirtualPath | undefined
  readonly host?: string | undefined
  /** Absent if the name of the host was only looked up. */
  readonly port?: number | undefined
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
  | PublishRule

/** Decides about rights at paths. Pure, synchronous, without I/O. Called before every operation, and again for the target of a link. */
export interface Policy {
  decide(request: AccessRequest): Decision
  /** Rules that compile into binds and also apply at the file API. `decide` may refuse more, but only at the file API. */
  subtreeRules(): readonly SubtreeRule[]
  /** Rules by pattern, which apply to the file API and to commands. Default: none. */
  patternRules?(): readonly PatternRule[]
  /** Host lists, each of which limits the connections of commands. Default: none. */
  hostRules?(): readonly HostsRule[]
  /** Lists of ports, each of which narrows the ports that can be published. Default: none. */
  publishRules?(): readonly PublishRule[]
  /** Names of the rules that apply only at the file API. Commands must `acknowledge` these rules. Default: none. */
  apiOnlyRules?(): readonly string[]
  /** Called before a command runs. A guard rail, not a boundary. Default: every command is allowed. */
  decideCommand?(request: CommandLineRequest): Decision
}
