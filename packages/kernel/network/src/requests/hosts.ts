import { hostLists } from '@ws/core/executor'

import type { RequestRule, RequestRules } from './types.ts'

/** Finds the rules for a host. An entry with rules applies to all its names, even after a wider entry. */
export class HostRequests {
  readonly #rules: RequestRules
  readonly #list: hostLists.List

  constructor(rules: RequestRules, entries: readonly hostLists.Entry[]) {
    this.#rules = rules
    const ruled = entries.filter(({ text }) => Object.hasOwn(rules, text))
    const width = ({ name, isWildcard }: hostLists.Entry): number => (isWildcard ? 1_000 : 0) - name.length
    this.#list = new hostLists.List(ruled.toSorted((left, right) => width(left) - width(right)))
  }

  get entries(): readonly hostLists.Entry[] {
    return this.#list.entries
  }

  /** The rules of a host. Without rules, connections to the host pass untouched. */
  of(name: string, port: number): readonly RequestRule[] | undefined {
    const entry = this.#list.find(name, port)
    return entry && this.#rules[entry.text]
  }
}
