import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * The host path of this user's directory for the records of one part of `@ws`: below `$XDG_STATE_HOME` where that is set.
 * Root's own home is closed to the user that commands run as.
 */
export function stateHome(part: string): string {
  const state = process.env['XDG_STATE_HOME']
  if (state?.startsWith('/')) return join(state, 'ws', part)
  return process.getuid?.() === 0 ? join('/var/lib/ws', part) : join(homedir(), '.local/state/ws', part)
}
