import { factsOf, type FileOperation } from '../contract/operations.ts'
import { WorkspaceError } from '../errors.ts'
import { checkOption } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import { parsePath } from '../path/virtual-path.ts'
import { listOf } from './host-list.ts'
import { CompiledPattern } from './patterns.ts'
import { protectHooks, protectSecrets } from './protect.ts'
import { readOptions, ruleOptions } from './rule-options.ts'
import { checkRulePath } from './rule-paths.ts'
import type {
  Access,
  AccessRequest,
  CommandParser,
  CommandRule,
  ExceptionRule,
  HostsRule,
  PatternRule,
  PredicateRule,
  SubtreeEntry,
  SubtreeRule,
} from '../contract/policy.ts'

export interface NameOption {
  /** Default: made of the rule's kind and path. Rules of one workspace have different names. */
  readonly name?: string | undefined
}

export interface OutputOptions extends NameOption {
  /** False makes the output root write-only. Default true. Executors of real programs then refuse every command (`EUNENFORCEABLE`). */
  readonly readable?: boolean | undefined
}

export interface ExceptionOptions extends NameOption {
  /** Shown by `explain` and the audit. */
  readonly justification: string
  /** Default `read-write`. */
  readonly access?: Access | undefined
  /** Names of the rules to which the exception applies. Default: every `withinWorkspace` and `withinOutput` rule. */
  readonly from?: readonly string[] | undefined
}

export interface PredicateOptions {
  readonly name: string
  /** False, or an object with the reason, refuses. Synchronous and pure. */
  readonly test: PredicateRule['test']
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
}

export interface DenyCommandOptions extends NameOption {
  /** `parseCommands` of `@ws/command-parser`, or one of your own: the core knows no shell. */
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

/** Makers of rules. They throw `EINVAL` (or as `paths.parseVirtual`) for arguments without a meaning. */
export const rules = {
  /** Nothing outside `path` can be read or written. Both doors. */
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

  /** Nothing outside `path` can be written. Both doors. */
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

  /** `path` and everything below can be read, not written. Both doors. */
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

  /** `path` and everything below can be neither read nor written; its parent lists its name. Also in every spelling. Both doors. */
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

  /** Your own rule over subtrees: its longest matching path decides. Other rules decide about other paths. */
  subtree(options: SubtreeOptions): SubtreeRule {
    const { name, entries, reason, remedy } = readOptions('subtree', ruleOptions.subtree, options)
    const list = Object.entries(entries).map(([path, access]) => entry(path, access))
    return { kind: 'subtree', name, entries: list, reason, remedy }
  },

  /** A documented exception: `path` may be used although a confining rule denies it, such as a cache outside the output root. */
  allow(path: string, options: ExceptionOptions): ExceptionRule {
    const { name, access = 'read-write', from, justification } = readOptions('allow', ruleOptions.allow, options)
    const root = rulePath(path)
    return { kind: 'exception', name: name ?? `allow(${root})`, entry: entry(root, access), from, justification }
  },

  /** Restricts by your own function, at the file API only: commands need `acknowledge`. */
  predicate(options: PredicateOptions): PredicateRule {
    const { name, test, reason, remedy } = readOptions('predicate', ruleOptions.predicate, options)
    return { kind: 'predicate', name, test, reason, remedy }
  },

  /**
   * Refuses commands by program (`['rm', 'curl']`), or by a function for every simple command, also in pipelines, functions and `sudo`.
   *
   * **A guard rail, and no boundary.** Scripts, interpreters and copies do the same unseen. It refuses a line that the parser cannot read,
   * and with names also a line with an unknown program (`$tool -x`).
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
   * Denies every match of the glob and everything below; its parent lists its name. `*.pem` matches at any depth,
   * `/keys/*.pem` below `/keys`, `./*.pem` in the root. Case never matters. Both doors; commands: at their start.
   */
  denyGlob(glob: string, options?: NameOption): PatternRule {
    const { name } = readOptions('denyGlob', ruleOptions.named, options)
    if (typeof glob !== 'string' || glob === '') throw invalid('the glob must be a non-empty string', 'pass a glob')
    return patternRule({ kind: 'pattern', name: name ?? `denyGlob(${glob})`, access: 'none', patterns: [glob] })
  },

  /**
   * Narrows the network to these hosts: `registry.npmjs.org` for ports 80 and 443, `*.npmjs.org` for names below, `db.internal:5432`.
   * It never widens the executor's list. An empty list leaves no host.
   */
  allowHosts(hosts: readonly string[], options?: NameOption): HostsRule {
    const { name = 'allowHosts' } = readOptions('allowHosts', ruleOptions.named, options)
    listOf({ name, hosts })
    return { kind: 'hosts', name, hosts: [...hosts] }
  },

  protectSecrets,
  protectHooks,

  /** Nothing larger than `bytes` can be written, streams included. File API only. */
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

  /** Only files with one of these extensions (`.md`) can be written. File API only. */
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

/** Refuses a malformed glob where the rule is made. */
function patternRule(rule: PatternRule): PatternRule {
  new CompiledPattern(rule)
  return rule
}

/** Checks a rule's path, and keeps it as written: only the workspace knows its meaning. */
function rulePath(path: string): string {
  checkRulePath(path)
  parsePath(path, { operation: 'rule' })
  return path
}

function entry(path: string, access: Access): SubtreeEntry {
  return { path: rulePath(path), access }
}

function invalid(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'rule', reason, remedy })
}

function givesName(operation: FileOperation): boolean {
  return operation !== 'createDirectory' && factsOf(operation).creates !== undefined
}
