import type { CommandRequest, TerminalRequest } from '@ws/core/executor'
import type { TerminalDevice } from './start.ts'

const keptBytes = 4096

/**
 * Converts a request to one without a terminal. The caller applies the timeout. `TERM` defaults to a capable terminal.
 * The shell prints a mark after its start-up files, so that their output does not count as the command's [LS13].
 */
export function plainRequest(
  request: TerminalRequest,
  device: Pick<TerminalDevice, 'startMark' | 'expectStart'>,
): CommandRequest {
  const { command: line = '', columns: _columns, rows: _rows, timeout: _timeout, env, ...rest } = request
  const marked = request.login && line.trim() !== ''
  if (marked) device.expectStart()
  // The mark is on the command's line, to keep line numbers. It has two parts: a shell with `-v` prints its input, but not the whole mark.
  const mark = device.startMark
  const command = marked ? `printf '%s' '${mark.slice(0, 8)}''${mark.slice(8)}'; ${line}` : line
  return { ...rest, command, env: { TERM: 'xterm-256color', ...env }, maxOutputBytes: keptBytes }
}
