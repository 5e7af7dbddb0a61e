import { WorkspaceError } from '@ws/core'

export type IdKind = 'thread' | 'user' | 'ticket'

/** One path segment that is valid on every store: no separator, no leading dot, no escape. */
const shape = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?$/

const reserved: ReadonlySet<string> = new Set(['system', '.ws'])

/** Checks an id [TH1]: 1 to 128 characters `A-Za-z0-9._-`, first a letter or digit, last not a dot, not `system` or `.ws` in any case. */
export function checkId(operation: string, kind: IdKind, id: unknown): string {
  if (typeof id === 'string' && shape.test(id) && !reserved.has(foldId(id))) return id
  throw new WorkspaceError({
    code: 'EINVAL',
    operation,
    reason: `the ${kind} id must have 1 to 128 characters \`A-Za-z0-9._-\`, begin with a letter or a digit, not end in a dot, and not be \`system\``,
    remedy: `pass another \`${kind}Id\``,
  })
}

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
