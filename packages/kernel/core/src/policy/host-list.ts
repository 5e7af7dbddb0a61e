import { quotePath, WorkspaceError } from '../errors.ts'
import { checkOption } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import type { HostsRule } from '../contract/policy.ts'

export interface HostEntry {
  /** The entry as written. Events and messages show this text. */
  readonly text: string
  /** The name in lower case, without a final dot; for a wildcard, the part after `*.`. */
  readonly name: string
  /** True for `*.`: every name below, at any depth, but not the name itself. */
  readonly isWildcard: boolean
  /** Absent: ports 80 and 443. */
  readonly port: number | undefined
}

/** The ports of an entry that names none. */
export const webPorts: readonly number[] = [80, 443]

const label = /^(?!-)[a-z\d_-]{1,63}(?<!-)$/u
const longestName = 253
/** An IP address in any spelling: in brackets, or only numbers. */
const address = /^(?:\[.*\]|(?:\d+|0x[\da-f]+)(?:\.(?:\d+|0x[\da-f]+))*)$/iu

/** Parses an entry: `registry.npmjs.org`, `*.npmjs.org`, `db.internal:5432`. `problem` is printed directly after the entry. */
export function parseHost(text: string): HostEntry | { readonly problem: string } {
  const [, host = '', written] = /^(.*?)(?::([^:\]]*))?$/su.exec(text) ?? []
  if (/[/@?#\s]/u.test(text) || text.includes('://'))
    return { problem: 'must be a name such as `example.org`, not a URL' }
  if (address.test(host) || host.includes(':')) return { problem: 'must be a name, not an address' }
  const port = written === undefined ? undefined : portOf(written)
  if (Number.isNaN(port)) return { problem: 'must have a port from 1 to 65535' }
  const isWildcard = host.startsWith('*.')
  const name = normalName(isWildcard ? host.slice(2) : host)
  if (name.includes('*')) return { problem: 'can have a wildcard only as its whole first label, as in `*.example.org`' }
  if (!isName(name)) return { problem: 'must be a name such as `example.org`, `*.example.org` or `example.org:5432`' }
  if (isWildcard && !name.includes('.')) return { problem: 'must have at least two labels behind its wildcard' }
  return { text, name, isWildcard, port }
}

export function normalName(text: string): string {
  return text.toLowerCase().replace(/\.$/u, '')
}

/** Returns whether a name in the form of {@link normalName} can be a host. If its last label is a number, it is an address. */
export function isName(name: string): boolean {
  const labels = name.split('.')
  return (
    name.length <= longestName &&
    labels.every((one) => label.test(one)) &&
    !/^(?:\d+|0x[\da-f]*)$/u.test(labels.at(-1) ?? '')
  )
}

function portOf(text: string): number {
  const port = /^[1-9]\d{0,4}$/u.test(text) ? Number(text) : Number.NaN
  return port <= 65_535 ? port : Number.NaN
}

/** Finds two equal entries. Returns the index of the later entry, and the text of the earlier. */
function repeatedHost(entries: readonly HostEntry[]): { readonly index: number; readonly first: string } | undefined {
  const seen = new Map<string, string>()
  for (const [index, entry] of entries.entries()) {
    const { text, name, isWildcard } = entry
    for (const port of portsOf(entry)) {
      const key = `${isWildcard ? '*.' : ''}${name}:${port}`
      const first = seen.get(key)
      if (first !== undefined) return { index, first }
      seen.set(key, text)
    }
  }
  return undefined
}

/** Parses the entries. @throws WorkspaceError `EINVAL` for an entry that is not a host, or repeats another */
export function readHosts(
  texts: readonly string[],
  {
    operation,
    option,
    rule,
  }: { readonly operation: string; readonly option: string; readonly rule?: string | undefined },
): readonly HostEntry[] {
  const invalid = (index: number, reason: string): WorkspaceError =>
    new WorkspaceError({
      code: 'EINVAL',
      operation,
      rule,
      reason: `\`${option}[${index}]\` ${reason}, got ${quotePath(texts[index] ?? '')}`,
      remedy: 'pass such an entry, or leave it out',
    })
  const entries = texts.map((text, index): HostEntry => {
    const entry = parseHost(text)
    if ('problem' in entry) throw invalid(index, entry.problem)
    return entry
  })
  const repeated = repeatedHost(entries)
  if (repeated !== undefined) throw invalid(repeated.index, `must not repeat the entry ${quotePath(repeated.first)}`)
  return entries
}

export class HostList {
  readonly entries: readonly HostEntry[]
  readonly ports: readonly number[]
  /** The lists that were combined, each with its rule. The first is the widest, and has no rule. */
  readonly #parts: readonly { readonly rule?: HostsRule; readonly list: HostList }[]
  /** The rules that ask. */
  readonly #asking: readonly HostsRule[]

  constructor(
    entries: readonly HostEntry[],
    parts: readonly { readonly rule?: HostsRule; readonly list: HostList }[] = [],
    asking: readonly HostsRule[] = [],
  ) {
    this.entries = entries
    this.ports = [...new Set(entries.flatMap(portsOf))]
    this.#parts = parts
    this.#asking = asking
  }

  /** Returns the hosts of this list that every rule also contains, with the texts of this list. Rules that ask close single hosts. */
  narrow(rules: readonly HostsRule[]): HostList {
    if (rules.length === 0) return this
    const asking = rules.filter(({ asks }) => asks === true)
    const lists = rules.filter(({ asks }) => asks !== true).map((rule) => ({ rule, list: listOf(rule) }))
    const entries = lists.reduce<readonly HostEntry[]>(
      (left, { list }) => left.flatMap((one) => list.entries.flatMap((other) => common(one, other) ?? [])),
      this.entries,
    )
    return new HostList(entries, [{ list: this }, ...lists], asking)
  }

  /** Returns the entry that allows a connection, if any. */
  find(name: string, port: number): HostEntry | undefined {
    const wanted = normalName(name)
    if (this.#closing(wanted, port) !== undefined) return undefined // @defence a host of a rule that asks: are denied without a grant
    return this.entries.find((entry) => matches(entry, wanted) && portsOf(entry).includes(port)) // @defence ` && portsOf(entry).includes(port)` an address in place: a port that its name has not
  }

  knows(name: string): boolean {
    const wanted = normalName(name)
    const isOpen = (port: number): boolean => this.#closing(wanted, port) === undefined
    return this.entries.some((entry) => matches(entry, wanted) && portsOf(entry).some(isOpen))
  }

  /** Returns the rule that excludes a host of the widest list, if any. Without a port: at any port. */
  closedBy(name: string, port?: number): HostsRule | undefined {
    const lacks = this.#parts.find(({ list }) => (port === undefined ? !list.knows(name) : !list.find(name, port)))
    if (lacks !== undefined) return lacks.rule
    const wanted = normalName(name)
    return this.#asking.find((rule) => (port === undefined ? asksAbout(rule, wanted) : closes(rule, wanted, port)))
  }

  #closing(name: string, port: number): HostsRule | undefined {
    return this.#asking.find((rule) => closes(rule, name, port))
  }
}

/** Returns whether a rule keeps a host from being reached. A rule that asks is about names, so it closes all addresses. */
export function closes(rule: HostsRule, name: string, port: number): boolean {
  if (rule.asks !== true) return listOf(rule).find(name, port) === undefined
  return !isName(normalName(name)) || asksAbout(rule, name, port) // @defence `!isName(normalName(name)) || ` a host of a rule that asks: are denied without a grant
}

/** Returns whether a rule asks about a host, and no grant opens it. Without a port: at any port of the rule. */
export function asksAbout(rule: HostsRule, name: string, port?: number): boolean {
  if (rule.asks !== true) return false
  const list = listOf(rule)
  const listed = (port === undefined ? list.ports : [port]).filter((one) => list.find(name, one) !== undefined)
  return listed.some((one) => rule.granted?.includes(`${normalName(name)}:${one}`) !== true)
}

/** Returns a rule that asks without the hosts that are granted. A name that was only looked up is granted at all ports of the rule. */
export function grantedHosts(
  rule: HostsRule,
  grants: readonly { readonly rule: string; readonly host?: string | undefined; readonly port?: number | undefined }[],
): HostsRule {
  if (rule.asks !== true) return rule
  const granted = grants.flatMap(({ rule: by, host, port }) =>
    by !== rule.name || host === undefined
      ? []
      : (port === undefined ? listOf(rule).ports : [port]).map((one) => `${normalName(host)}:${one}`),
  )
  return granted.length === 0 ? rule : { ...rule, granted }
}

/** Returns the host list of a rule. @throws WorkspaceError `EINVAL` as {@link readHosts} does */
export function listOf({ name, hosts }: Pick<HostsRule, 'name' | 'hosts'>): HostList {
  checkOption('rules', 'hosts', hosts, option.required(option.strings))
  return new HostList(readHosts(hosts, { operation: 'rules', option: 'hosts', rule: name }))
}

function common(left: HostEntry, right: HostEntry): HostEntry | undefined {
  const ports = portsOf(left).filter((port) => portsOf(right).includes(port))
  const narrower = isPartOf(right, left) ? right : isPartOf(left, right) ? left : undefined
  if (narrower === undefined || ports.length === 0) return undefined
  const { name, isWildcard } = narrower
  const port = left.port ?? right.port
  return { text: left.text, name, isWildcard, port }
}

function isPartOf(part: HostEntry, whole: HostEntry): boolean {
  if (part.name === whole.name && part.isWildcard === whole.isWildcard) return true
  return whole.isWildcard && part.name.endsWith(`.${whole.name}`)
}

/** Returns the reason to print directly after an unlisted host, and the entry to add. `rule`: the rule that closes the host. */
export function unlistedHost(
  name: string,
  port = 443,
  rule?: HostsRule,
  who: 'commands' | 'downloads' = 'commands',
): { readonly reason: string; readonly remedy: string } {
  if (/^[\d.]+$|:/u.test(name))
    return {
      reason: `is an address, and ${who} reach hosts by name alone`,
      remedy: 'ask for the host by its name, which must be listed',
    }
  if (rule?.asks === true)
    return {
      reason: rule.reason ?? 'needs the consent of a person',
      remedy: rule.remedy ?? 'ask the user to allow it, or go on without it',
    }
  // An entry without a port allows ports 80 and 443.
  const entry = webPorts.includes(port) ? name : `${name}:${port}`
  const own = who === 'commands' ? '`network.allow`' : '`downloads.hosts`'
  const place = rule === undefined ? own : `the rule ${quotePath(rule.name)}`
  return {
    reason: `is not in the list of hosts ${rule === undefined ? `that ${who} may reach` : `of the rule ${quotePath(rule.name)}`}`,
    remedy: `do without it, or ask the operator for the entry \`${entry}\` in ${place}`,
  }
}

export function portsOf({ port }: HostEntry): readonly number[] {
  return port === undefined ? webPorts : [port]
}

function matches({ name, isWildcard }: HostEntry, wanted: string): boolean {
  return isWildcard ? wanted.endsWith(`.${name}`) && isName(wanted) : wanted === name
}
