import { showName } from '@ws/core/executor'
import type { CommandResult, RuleHint, RuleViolation, VirtualPath } from '@ws/core'
import type { EntryNote } from '@ws/core/adapter'

import { changedList } from './changed.ts'

type Noted = Pick<CommandResult, 'hints' | 'violations' | 'notes' | 'changes'>

export function ruleNotes({ hints = [], violations = [], notes = [], changes = [] }: Noted): string[] {
  const changed = changes.length === 0 ? [] : [changedList(changes)]
  return [...hints.map(noteOfHint), ...violations.map(noteOfViolation), ...notes.map(noteOfEntry), ...changed]
}

function noteOfEntry({ path, reason, kept }: EntryNote<VirtualPath>): string {
  return `Note: ${showName(path)} ${reason}${kept === undefined ? '' : ` as ${showName(kept)}`}.`
}

function noteOfHint({ rule, path, reason, remedy }: RuleHint): string {
  return `Note: rule ${rule} protects ${showName(path)}${reason === undefined ? '' : ` (it ${reason})`}${remedy === undefined ? '' : `; ${remedy}`}.`
}

function noteOfViolation(violation: RuleViolation): string {
  if (violation.kind === 'refused') {
    const { host, port, reason, remedy, shared } = violation
    const of = shared ? ' It can be of another command that ran then.' : ''
    return `Note: the host ${host}${port === undefined ? '' : `:${port}`} ${reason}; ${remedy}.${of}`
  }
  const { rule, path, kind, reason, remedy, duration } = violation
  if (kind === 'link') return `Note: rule ${rule} is not held at ${showName(path)}: it ${reason}; ${remedy}.`
  if (duration !== undefined)
    return `Note: a program outside replaced ${showName(path)}, and the command could use it for ${duration} ms (rule ${rule}).`
  return kind === 'created'
    ? `Note: rule ${rule} is about ${showName(path)}, which the command made; it holds from the next command on.`
    : `Note: the cover of rule ${rule} on ${showName(path)} was lost while the command ran; tell the user.`
}
