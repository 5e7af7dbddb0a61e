import type { RuleHint } from '@ws/core'

/** A line for each rule that a failed command ran into, with the way to go on. */
export function notesOfHints(hints: readonly RuleHint[] = []): string[] {
  return hints.map(
    ({ rule, path, reason, remedy }) =>
      `Note: rule ${rule} protects ${path}${reason === undefined ? '' : ` (it ${reason})`}${remedy === undefined ? '' : `; ${remedy}`}.`,
  )
}
