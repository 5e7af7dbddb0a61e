import type { CommandRequest, TerminalRequest } from '@ws/core'

/** What a command on a terminal says beside it: the reason why the terminal could not be its own. */
const keptBytes = 4096

/**
 * The same command without a terminal, as executors start all commands. The timeout stays with whoever follows the
 * terminal. A terminal that can do little unless the caller says so would make programs believe they have none.
 */
export function plainRequest(request: TerminalRequest): CommandRequest {
  const { command = '', columns: _columns, rows: _rows, timeout: _timeout, env, ...rest } = request
  return { ...rest, command, env: { TERM: 'xterm-256color', ...env }, maxOutputBytes: keptBytes }
}
