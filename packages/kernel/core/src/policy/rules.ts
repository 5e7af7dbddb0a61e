import { factsOf, type FileOperation } from '../contract/operations.ts'
import { WorkspaceError } from '../errors.ts'
import { checkOption } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import { publishedPorts } from './check-rules.ts'
import { listOf } from './host-list.ts'
import { ask, askHosts, patternRule } from './ask.ts'
import { protectHooks, protectSecrets } from './protect.ts'
import { readOptions, ruleOptions } from './rule-options.ts'
import { rulePath } from './rule-paths.ts'
import type {
  Access,
  AccessRequest,
  CommandParser,
  CommandRule,
  ExceptionRule,
  HostsRule,
  PatternRule,
  PredicateRule,
  PublishRule,
  SubtreeEntry,
  SubtreeRule,
} from '../contract/policy.ts'

export interface NameOption {
  /** Default: derived from the rule's kind and path. Each rule of a workspace needs its own name. */
  readonly name?: string | undefined
}

export interface OutputOptions extends NameOption {
  /** False: the output root is write-only; executors of real programs then refuse every command (`EUNENFORCEABLE`). Default true. */
  readonly readable?: boolean | undefined
}

export interface ExceptionOptions extends NameOption {
  /** Why the exception is needed. `explain` and the audit show this text. */
  readonly justification: string
  /** Default `read-write`. */
  readonly access?: Access | undefined
  /** Names of the rules to which the exception applies. Default: every `withinWorkspace` and `withinOutput` rule. */
  readonly from?: readonly string[] | undefined
}

export interface PredicateOptions {
  readonly name: string
  /** To refuse, returns false, or an object with the reason. Synchronous and pure. */
  readonly test: PredicateRule['test']
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

export interface DenyCommandOptions extends NameOption {
  /** `parseCommands` of `@ws/command-parser`, or your own parser: the core itself has none. */
  readonly parser: CommandParser
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

export interface SubtreeOptions {
  readonly name: string
  readonly entries: Readonly<Record<string, Access>>
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

/** Functions that make rules. They throw `EINVAL`, or the errors of `paths.parseVirtual`, for invalid arguments. */
export const rules = {
  /** Forbids reading and writing outside `path`. Applies to the file API and commands. */
  withinWorkspace(path: string, options?: NameOption): SubtreeRule {
    const { name } = readOptions('withinWorkspace', ruleOptions.named, options)
    const root = rulePath(path)
    return {
      kind: 'subtree',
      name: name ?? `withinWorkspace(${root})`,
      confines: true,
      entries: root === '/' ? [entry(root, 'read-write')] : [entry('/', 'none'), entry(root, 'read-write')],
      reason: `is outside the workspace root \`${root}\``,
      remedy: `use a path below \`${root}\``,
    }
  },

  /** Forbids writing outside `path`. Applies to the file API and commands. */
  withinOutput(path: string, options?: OutputOptions): SubtreeRule {
    const { name, readable = true } = readOptions('withinOutput', ruleOptions.withinOutput, options)
    const root = rulePath(path)
    const access = readable ? 'read-write' : 'write-only'
    return {
      kind: 'subtree',
      name: name ?? `withinOutput(${root})`,
      confines: true,
      entries: root === '/' ? [entry(root, access)] : [entry('/', 'read-only'), entry(root, access)],
      reason: `is outside the output root \`${root}\``,
      remedy: `write below \`${root}\``,
    }
  },

  /** Allows reading `path` and everything below it, but not writing. Applies to the file API and commands. */
  readOnly(path: string, options?: NameOption): SubtreeRule {
    const { name } = readOptions('readOnly', ruleOptions.named, options)
    const root = rulePath(path)
    return {
      kind: 'subtree',
      name: name ?? `readOnly(${root})`,
      entries: [entry(root, 'read-only')],
      reason: `is read-only (\`${root}\`)`,
      remedy: `write outside \`${root}\``,
    }
  },

  /** Forbids access to `path`, in every spelling, and everything below. Listings still show its name. For the file API and commands. */
  deny(path: string, options?: NameOption): SubtreeRule {
    const { name } = readOptions('deny', ruleOptions.named, options)
    const root = rulePath(path)
    return {
      kind: 'subtree',
      name: name ?? `deny(${root})`,
      entries: [entry(root, 'none')],
      reason: `is denied (\`${root}\`)`,
      remedy: 'go on without it',
    }
  },

  /** Your own subtree rule, whose longest matching path decides. The rule has no effect on paths that match no entry. */
  subtree(options: SubtreeOptions): SubtreeRule {
    const { name, entries, reason, remedy } = readOptions('subtree', ruleOptions.subtree, options)
    const list = Object.entries(entries).map(([path, access]) => entry(path, access))
    return { kind: 'subtree', name, entries: list, reason, remedy }
  },

  /** A documented exception: allows `path` although a confining rule denies it. Example: a cache outside the output root. */
  allow(path: string, options: ExceptionOptions): ExceptionRule {
    const { name, access = 'read-write', from, justification } = readOptions('allow', ruleOptions.allow, options)
    const root = rulePath(path)
    return { kind: 'exception', name: name ?? `allow(${root})`, entry: entry(root, access), from, justification }
  },

  /** Restricts by your own function, but only at the file API: commands need `acknowledge`. */
  predicate(options: PredicateOptions): PredicateRule {
    const { name, test, reason, remedy } = readOptions('predicate', ruleOptions.predicate, options)
    return { kind: 'predicate', name, test, reason, remedy }
  },

  /**
   * Refuses commands by program (`['rm', 'curl']`), or by a function for every simple command, also in pipelines, functions and `sudo`.
   *
   * **A guard rail, not a boundary.** A script or a copied program can do the same unseen. Refuses a line that the parser cannot parse,
   * and with a list of names also a line with an unknown program (`$tool -x`).
   */
  denyCommand(denied: readonly string[] | CommandRule['test'], options: DenyCommandOptions): CommandRule {
    const { name, parser, reason, remedy } = readOptions('denyCommand', ruleOptions.denyCommand, options)
    if (typeof denied === 'function') {
      return { kind: 'command', name: name ?? 'denyCommand', parser, test: denied, reason, remedy }
    }
    if (!Array.isArray(denied) || denied.length === 0 || denied.some((name) => !/^[^/\s]+$/.test(String(name)))) {
      throw invalid('denied programs must be a list of names', "pass names without a directory, such as `['rm']`")
    }
    const names = new Set<string>(denied)
    return {
      kind: 'command',
      name: name ?? `denyCommand(${denied.join(' ')})`,
      parser,
      test: ({ program, text }) =>
        program === undefined
          ? { reason: `which program \`${text}\` starts is not known before it runs` }
          : !names.has(program),
      reason,
      remedy,
    }
  },

  /**
   * Forbids reading and writing every match of the glob, and everything below. Listings still show the name. Ignores case. `*.pem` matches
   * at any depth, `/keys/*.pem` below `/keys`, `./*.pem` in the root. For the file API, and for commands if a match exists at their start.
   */
  denyGlob(glob: string, options?: NameOption): PatternRule {
    const { name } = readOptions('denyGlob', ruleOptions.named, options)
    if (typeof glob !== 'string' || glob === '') throw invalid('the glob must be a non-empty string', 'pass a glob')
    return patternRule({ kind: 'pattern', name: name ?? `denyGlob(${glob})`, access: 'none', patterns: [glob] })
  },

  /**
   * Limits the network to these hosts: `registry.npmjs.org` for ports 80 and 443, `*.npmjs.org` for names below, `db.internal:5432`.
   * Cannot add hosts to the executor's list. An empty list allows no host.
   */
  allowHosts(hosts: readonly string[], options?: NameOption): HostsRule {
    const { name = 'allowHosts' } = readOptions('allowHosts', ruleOptions.named, options)
    listOf({ name, hosts })
    return { kind: 'hosts', name, hosts: [...hosts] }
  },

  /** Narrows `publish` to these ports of the workspace. An empty list leaves none. */
  publish(ports: readonly number[], options?: NameOption): PublishRule {
    const { name = 'publish' } = readOptions('publish', ruleOptions.named, options)
    checkOption('rules.publish', 'ports', ports, publishedPorts)
    return { kind: 'publish', name, ports: [...ports] }
  },

  ask,
  askHosts,
  protectSecrets,
  protectHooks,

  /** Forbids writing a file larger than `bytes`, also as a stream. File API only. */
  maxFileSize(bytes: number, options?: NameOption): PredicateRule {
    checkOption('rules.maxFileSize', 'bytes', bytes, option.required(option.integer(0)))
    const { name } = readOptions('maxFileSize', ruleOptions.named, options)
    return {
      kind: 'predicate',
      name: name ?? `maxFileSize(${bytes})`,
      test: ({ need, size }: AccessRequest) => need === 'read' || size === undefined || size <= bytes,
      reason: `would be larger than ${bytes} bytes`,
      remedy: 'write less, or split it into several files',
    }
  },

  /** Allows writing only files with one of these extensions (`.md`). File API only. */
  onlyExtensions(extensions: readonly string[], options?: NameOption): PredicateRule {
    const { name } = readOptions('onlyExtensions', ruleOptions.named, options)
    if (!Array.isArray(extensions) || extensions.some((extension) => !/^\.[^/]+$/.test(String(extension)))) {
      throw invalid('extensions must look like `.md`', 'pass a list such as `[".md", ".txt"]`')
    }
    const list = extensions.join(' ')
    return {
      kind: 'predicate',
      name: name ?? `onlyExtensions(${list})`,
      test: ({ need, operation, path }) =>
        need === 'read' || !givesName(operation) || extensions.some((extension) => path.endsWith(extension)),
      reason: `does not end in one of ${list}`,
      remedy: `use a name that ends in one of ${list}`,
    }
  },
} as const

function entry(path: string, access: Access): SubtreeEntry {
  return { path: rulePath(path), access }
}

function invalid(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'rule', reason, remedy })
}

function givesName(operation: FileOperation): boolean {
  return operation !== 'createDirectory' && factsOf(operation).creates !== undefined
}
