import { showName } from '@ws/core/executor'
import type { CommandResult, RuleHint, RuleViolation } from '@ws/core'

/** A line for each rule that a command ran into, and for each host that it was refused, with the way to go on. */
export function ruleNotes({ hints = [], violations = [] }: Pick<CommandResult, 'hints' | 'violations'>): string[] {
  return [...hints.map(noteOfHint), ...violations.map(noteOfViolation)]
}

function noteOfHint({ rule, path, reason, remedy }: RuleHint): string {
  return `Note: rule ${rule} protects ${showName(path)}${reason === undefined ? '' : ` (it ${reason})`}${remedy === undefined ? '' : `; ${remedy}`}.`
}

function noteOfViolation(violation: RuleViolation): string {
  if (violation.kind === 'refused') {
    const { host, port, reason, remedy } = violation
    return `Note: the host ${host}${port === undefined ? '' : `:${port}`} ${reason}; ${remedy}.`
  }
  const { rule, path, kind, reason, remedy, duration } = violation
  if (kind === 'link') return `Note: rule ${rule} is not held at ${showName(path)}: it ${reason}; ${remedy}.`
  if (duration !== undefined)
    return `Note: a program outside replaced ${showName(path)}, and the command could use it for ${duration} ms (rule ${rule}).`
  return kind === 'created'
    ? `Note: rule ${rule} is about ${showName(path)}, which the command made; it holds from the next command on.`
    : `Note: the cover of rule ${rule} on ${showName(path)} was lost while the command ran; tell the user.`
}
