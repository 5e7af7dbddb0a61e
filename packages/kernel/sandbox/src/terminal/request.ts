import type { CommandRequest, TerminalRequest } from '@ws/core/executor'
import type { TerminalDevice } from './start.ts'

const keptBytes = 4096

/**
 * The same command without a terminal. The code that follows the terminal applies the timeout. `TERM` defaults to a capable one. After
 * start-up files the shell prints a mark, so their output is not the command's [LS13].
 */
export function plainRequest(
  request: TerminalRequest,
  device: Pick<TerminalDevice, 'startMark' | 'expectStart'>,
): CommandRequest {
  const { command: line = '', columns: _columns, rows: _rows, timeout: _timeout, env, ...rest } = request
  const marked = request.login && line.trim() !== ''
  if (marked) device.expectStart()
  // On the same line, so that line numbers stay. In two parts, so that a shell that prints its input (`-v`) does not print the mark.
  const mark = device.startMark
  const command = marked ? `printf '%s' '${mark.slice(0, 8)}''${mark.slice(8)}'; ${line}` : line
  return { ...rest, command, env: { TERM: 'xterm-256color', ...env }, maxOutputBytes: keptBytes }
}
