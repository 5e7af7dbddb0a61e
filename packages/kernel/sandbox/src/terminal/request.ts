import type { CommandRequest, TerminalRequest } from '@ws/core/executor'
import type { TerminalDevice } from './start.ts'

/** Bytes kept of the output beside the terminal: the reason why the terminal could not be the command's own. */
const keptBytes = 4096

/**
 * The same command without a terminal, as executors start all commands. The timeout stays with the code that follows
 * the terminal. A terminal that can do little unless the caller says so would make programs believe they have none.
 *
 * Where start-up files are read before the command, the shell prints a mark in between, so that what they print is not
 * taken for the command's [LS13].
 */
export function plainRequest(
  request: TerminalRequest,
  device: Pick<TerminalDevice, 'startMark' | 'expectStart'>,
): CommandRequest {
  const { command: line = '', columns: _columns, rows: _rows, timeout: _timeout, env, ...rest } = request
  const marked = request.login && line.trim() !== ''
  if (marked) device.expectStart()
  // In the same line, so that the numbers of lines stay; in two parts, so that a shell that shows what it reads (`-v`, an
  // error of syntax) does not print it.
  const mark = device.startMark
  const command = marked ? `printf '%s' '${mark.slice(0, 8)}''${mark.slice(8)}'; ${line}` : line
  return { ...rest, command, env: { TERM: 'xterm-256color', ...env }, maxOutputBytes: keptBytes }
}
