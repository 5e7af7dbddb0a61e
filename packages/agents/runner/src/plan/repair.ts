import type { z } from 'zod'

/** A placeholder for a step of unknown type, whose settings are not checked. */
export const unknownType = '\0'

/** Fields that no other part of a plan depends on. */
const independent: ReadonlySet<unknown> = new Set(['name', 'concurrency', 'onFailure', 'onBreach'])

/** The plan without its malformed parts; `undefined` if other parts need a malformed part and would then cause false problems. */
export function withoutFaults(given: unknown, { issues }: z.ZodError): unknown {
  const plan = { ...(given as Record<string, unknown>) }
  const steps = (Array.isArray(plan['steps']) ? plan['steps'] : []).map((step: object) => ({ ...step }))
  for (const { path, ...issue } of issues) {
    const [part, index, field] = path as string[]
    const step: Record<string, unknown> | undefined = part === 'steps' ? steps[Number(index)] : undefined
    if (step !== undefined && field !== undefined && field !== 'id') {
      delete step[field]
      if (field === 'type' || field === 'with') step['type'] = unknownType
    } else if (step !== undefined && issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) delete step[key]
    } else if (part === 'version' && plan['version'] === undefined) plan['version'] = 1
    else if (part !== undefined && independent.has(part)) delete plan[part]
    else return undefined
  }
  return { ...plan, steps }
}
