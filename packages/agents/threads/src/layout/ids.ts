import { WorkspaceError } from '@ws/core'

/** The kinds of ids that a layout has a place for. */
export type IdKind = 'thread' | 'user' | 'ticket'

/** One path segment that is the same on every store: no separator, no leading dot, no escape. */
const shape = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?$/

/** Names that the layout uses itself. */
const reserved: ReadonlySet<string> = new Set(['system', '.ws'])

/**
 * Checks an id [TH1].
 *
 * An id has 1 to 128 characters `A-Za-z0-9._-`, begins with a letter or a digit, and does not end in a dot. `system` and
 * `.ws` are reserved, whatever their case.
 *
 * @throws WorkspaceError `EINVAL`, with the same words for every wrong id.
 */
export function checkId(operation: string, kind: IdKind, id: unknown): string {
  if (typeof id === 'string' && shape.test(id) && !reserved.has(foldId(id))) return id
  throw new WorkspaceError({
    code: 'EINVAL',
    operation,
    reason: `the ${kind} id must have 1 to 128 characters \`A-Za-z0-9._-\`, begin with a letter or a digit, not end in a dot, and not be \`system\``,
    remedy: `pass another \`${kind}Id\``,
  })
}

/** Two ids that differ in case only are one id: a store may not distinguish them. */
export function foldId(id: string): string {
  return id.toLowerCase()
}

export function caseError(operation: string, kind: IdKind, existing: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation,
    reason: `the ${kind} id differs from the existing \`${existing}\` in case only`,
    remedy: `pass \`${existing}\`, or another \`${kind}Id\``,
  })
}
