import { normalAddress } from '../address.ts'

/** An entry of a list of hosts. */
export interface HostEntry {
  /** As the caller wrote it: the name of the rule in events and messages. */
  readonly text: string
  /** In lower case, without a final dot; of a wildcard, the part behind `*.`. */
  readonly name: string
  /** `*.`: every name below it, any number of labels deep, and not the name itself. */
  readonly isWildcard: boolean
  /** Absent: 80 and 443. */
  readonly port: number | undefined
}

/** The ports of an entry without one. */
export const webPorts: readonly number[] = [80, 443]

const label = /^(?!-)[a-z\d_-]{1,63}(?<!-)$/u
const longestName = 253

/**
 * Reads an entry: `registry.npmjs.org`, `*.npmjs.org`, `db.internal:5432`.
 *
 * @returns the problem in words that follow the entry in a sentence, where it cannot be read
 */
export function parseHost(text: string): HostEntry | { readonly problem: string } {
  const [, host = '', written] = /^(.*?)(?::([^:\]]*))?$/su.exec(text) ?? []
  if (/[/@?#\s]/u.test(text) || text.includes('://'))
    return { problem: 'must be a name such as `example.org`, not a URL' }
  if (normalAddress(host) !== undefined || normalAddress(text) !== undefined || host.includes(':'))
    return { problem: 'must be a name, not an address' }
  const port = written === undefined ? undefined : portOf(written)
  if (Number.isNaN(port)) return { problem: 'must have a port from 1 to 65535' }
  const isWildcard = host.startsWith('*.')
  const name = normalName(isWildcard ? host.slice(2) : host)
  if (name.includes('*')) return { problem: 'can have a wildcard only as its whole first label, as in `*.example.org`' }
  if (!isName(name)) return { problem: 'must be a name such as `example.org`, `*.example.org` or `example.org:5432`' }
  if (isWildcard && !name.includes('.')) return { problem: 'must have at least two labels behind its wildcard' }
  return { text, name, isWildcard, port }
}

/** In lower case, without a final dot: as names are compared. */
export function normalName(text: string): string {
  return text.toLowerCase().replace(/\.$/u, '')
}

/** True for a name in the form of {@link normalName} that can be a host. Digits alone in the last label are an address. */
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

/** Two entries that say the same: the index of the second, and the text of the first. */
export function repeatedHost(
  entries: readonly HostEntry[],
): { readonly index: number; readonly first: string } | undefined {
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

/** A list of hosts that may be reached. */
export class HostList {
  readonly entries: readonly HostEntry[]
  /** Every port that an entry has. */
  readonly ports: readonly number[]

  constructor(entries: readonly HostEntry[]) {
    this.entries = entries
    this.ports = [...new Set(entries.flatMap(portsOf))]
  }

  /** The entry that lets a connection pass; `undefined` where there is none. */
  find(name: string, port: number): HostEntry | undefined {
    const wanted = normalName(name)
    return this.entries.find((entry) => matches(entry, wanted) && portsOf(entry).includes(port))
  }

  /** True where an entry has this name, with any port. */
  knows(name: string): boolean {
    const wanted = normalName(name)
    return this.entries.some((entry) => matches(entry, wanted))
  }
}

/** The ports of an entry. */
export function portsOf({ port }: HostEntry): readonly number[] {
  return port === undefined ? webPorts : [port]
}

function matches({ name, isWildcard }: HostEntry, wanted: string): boolean {
  return isWildcard ? wanted.endsWith(`.${name}`) && isName(wanted) : wanted === name
}
