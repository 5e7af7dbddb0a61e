import type { CheckedStep } from './checked.ts'

type Node = Pick<CheckedStep, 'id' | 'needs'>

export function findCycle(steps: readonly Node[]): readonly string[] | undefined {
  const needs = new Map(steps.map((step) => [step.id, step.needs]))
  const done = new Set<string>()
  for (const { id: start } of steps) {
    if (done.has(start)) continue
    // A loop instead of recursion, since a plan may be a chain of 10,000 steps.
    const trail: { readonly id: string; next: number }[] = [{ id: start, next: 0 }]
    const open = new Set([start])
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const needed = needs.get(top.id)?.[top.next]
      top.next += 1
      if (needed === undefined) {
        done.add(top.id)
        open.delete(top.id)
        trail.pop()
      } else if (open.has(needed)) {
        const ids = trail.map(({ id }) => id)
        return ids.slice(ids.indexOf(needed))
      } else if (!done.has(needed) && needs.has(needed)) {
        open.add(needed)
        trail.push({ id: needed, next: 0 })
      }
    }
  }
  return undefined
}
