import { type HostEntry, HostList } from '@ws/core/executor'

import type { RequestRule, RequestRules } from './types.ts'

/** Finds the rules for a host. An entry with rules holds for every name that it covers, also where a wider one comes first. */
export class HostRequests {
  readonly #rules: RequestRules
  readonly #list: HostList

  constructor(rules: RequestRules, entries: readonly HostEntry[]) {
    this.#rules = rules
    const ruled = entries.filter(({ text }) => Object.hasOwn(rules, text))
    const width = ({ name, isWildcard }: HostEntry): number => (isWildcard ? 1_000 : 0) - name.length
    this.#list = new HostList(ruled.toSorted((left, right) => width(left) - width(right)))
  }

  get entries(): readonly HostEntry[] {
    return this.#list.entries
  }

  /** `undefined`: nothing is known of requests to the host, and its connections pass untouched. */
  of(name: string, port: number): readonly RequestRule[] | undefined {
    const entry = this.#list.find(name, port)
    return entry && this.#rules[entry.text]
  }
}
