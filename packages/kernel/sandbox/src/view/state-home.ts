import { homedir } from 'node:os'
import { join } from 'node:path'

/** Returns the directory for records of one part of `@ws`, in `$XDG_STATE_HOME` if set. Users of commands could not enter root's home. */
export function stateHome(part: string): string {
  const state = process.env['XDG_STATE_HOME']
  if (state?.startsWith('/')) return join(state, 'ws', part)
  return process.getuid?.() === 0 ? join('/var/lib/ws', part) : join(homedir(), '.local/state/ws', part)
}
