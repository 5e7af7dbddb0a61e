import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * This user's host directory for records of one part of `@ws`: below `$XDG_STATE_HOME` if set.
 * Root's own home is closed to the user of commands.
 */
export function stateHome(part: string): string {
  const state = process.env['XDG_STATE_HOME']
  if (state?.startsWith('/')) return join(state, 'ws', part)
  return process.getuid?.() === 0 ? join('/var/lib/ws', part) : join(homedir(), '.local/state/ws', part)
}
