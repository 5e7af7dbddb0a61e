import type { Asked } from '../contract/policy.ts'
import { asksAbout } from '../policy/host-list.ts'
import type { Gate } from './gate.ts'

/** Returns a gate for one call, at which rules that ask do not apply to some places. */
export function gateWithGrants(gate: Gate, grants: readonly Asked[]): Gate {
  return gate.with({ declared: gate.declared.granting(grants), grants })
}

/** Returns a gate that lets a try take back what a grant allowed, also after a crash. */
export function gateWithoutAsking(gate: Gate): Gate {
  return gate.with({ declared: gate.declared.withoutAsking() })
}

/** Returns those of some refusals that are by rules that ask, each with the place that a grant opens. */
export function askedAt(gate: Gate, refusals: readonly Asked[]): readonly Asked[] {
  const asked = refusals.flatMap(({ rule, path, host, port }): readonly Asked[] => {
    if (host !== undefined)
      return gate.hostRules().some((one) => one.name === rule && asksAbout(one, host, port))
        ? [{ rule, host, port }]
        : []
    const at = path === undefined ? undefined : gate.declared.askedAt(rule, path)
    return at === undefined ? [] : [{ rule, path: at }]
  })
  return [...new Map(asked.map((one) => [JSON.stringify(one), one])).values()]
}
