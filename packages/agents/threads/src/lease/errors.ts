import { WorkspaceError } from '@ws/core'

import type { LeaseHolder } from './types.ts'

export function heldError(name: string, { name: holder, since }: LeaseHolder): WorkspaceError {
  const time = Number.isFinite(since) && Math.abs(since) <= 8.64e15 ? new Date(since).toISOString() : 'an unknown time'
  return new WorkspaceError({
    code: 'EBUSY',
    operation: 'acquire',
    path: name,
    reason: `is in use by ${holder} since ${time}`,
    remedy: 'wait until it is released, or pass `wait`; a holder that died is succeeded after the TTL of its lease',
  })
}

export function lostError(name: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ECLOSED',
    operation: 'lease',
    path: name,
    reason: 'is not held by this process any more: its lease was lost',
    remedy: 'open it again',
  })
}

export function unansweredError(name: string, native: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'EBACKEND',
    operation: 'lease',
    path: name,
    reason: 'has a lease about which the store gave no answer: another process may hold it',
    remedy: 'try again',
    native,
  })
}
