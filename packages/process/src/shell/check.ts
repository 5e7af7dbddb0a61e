import type { WorkspaceError } from '@ws/core'
import { invalid } from '../run/validate.ts'

/** @throws WorkspaceError `EINVAL` if it is blank or contains NUL. */
export function checkCommand(command: string): string {
  if (command.trim() === '') throw fail('the command is blank')
  if (command.includes('\0')) throw fail('the command contains NUL')
  return command
}

function fail(reason: string): WorkspaceError {
  return invalid('exec', reason, 'give a text like `ls -la`, or an array like `["ls", "-la"]`')
}
