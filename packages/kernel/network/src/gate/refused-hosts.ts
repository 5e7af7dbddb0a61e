import type { RuleViolation } from '@ws/core'
import type { ConnectionReport, ConnectionVerdict, ExecutorResult, hostLists } from '@ws/core/executor'

import type { HostRequests } from '../requests/hosts.ts'
import { refusals } from './refusals.ts'

const mostListed = 100

/** The hosts that were refused to one command, each host once. */
export class RefusedHosts {
  readonly #refused = new Map<string, Extract<RuleViolation, { readonly kind: 'refused' }>>()

  hear({ host, port, outcome, rule = 'network', reason = '', remedy = '', shared }: ConnectionReport): void {
    const key = `${host} ${port} ${reason}`
    if (outcome !== 'denied' || this.#refused.size >= mostListed || this.#refused.has(key)) return
    const place = { host, ...(port !== undefined && { port }) }
    this.#refused.set(key, { rule, kind: 'refused', ...place, reason, remedy, ...(shared && { shared }) })
  }

  addTo<Result extends Pick<ExecutorResult, 'violations'>>(result: Result): Result {
    const violations = [...(result.violations ?? []), ...this.#refused.values()]
    return violations.length === 0 ? result : { ...result, violations }
  }
}

/** Returns a function that gives the verdict of a list and of request rules, without connecting. */
export function verdictOf(
  list: hostLists.List,
  requests?: HostRequests,
): (host: string, port: number) => ConnectionVerdict {
  return (host, port) => {
    const entry = list.find(host, port)
    const judgesRequests = requests?.of(host, port) !== undefined
    if (entry !== undefined) return { effect: 'allow', entry: entry.text, judgesRequests }
    const { rule, reason, remedy } = refusals.unlisted(list, host, port)
    return { effect: 'deny', rule, reason, remedy }
  }
}
