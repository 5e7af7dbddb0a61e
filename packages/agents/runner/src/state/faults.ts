import { WorkspaceError } from '@ws/core'

import { invalid } from '../errors.ts'
import type { AttemptKey } from './records.ts'

/** The version of the records. A journal of another version is refused and not changed. */
export const journalVersion = 2

export function damaged(native?: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'EIO',
    operation: 'openJournal',
    reason: 'the journal is damaged or cannot be used',
    remedy: 'give another state directory, or move this one away; the output stays as it is',
    native,
  })
}

export function otherVersion(found: number): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'openJournal',
    reason: `the journal has version ${found}, and this program knows version ${journalVersion}`,
    remedy: 'use the program that wrote it, or give another state directory',
  })
}

export function endedAlready({ stepId, attempt }: AttemptKey): WorkspaceError {
  return new WorkspaceError({
    code: 'ECONFLICT',
    operation: 'saveStep',
    reason: `attempt ${attempt} at step \`${stepId}\` has ended already`,
    remedy: 'take its outcome from the journal',
  })
}

export function inReach(): WorkspaceError {
  const reason = 'the state directory lies in the workspace or the output, or around one of them'
  return invalid('openState', reason, 'give one elsewhere, which no step can reach')
}
