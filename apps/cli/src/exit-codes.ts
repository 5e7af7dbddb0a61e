import { constants } from 'node:os'

/** The exit codes of `ws`. `exec` ends with the command's own code instead of {@link exitCodes.ok}. */
export const exitCodes = {
  ok: 0,
  /** The operation failed; for `verify` and `doctor`: a check failed, commands would be refused. */
  failed: 1,
  /** Wrong arguments, a wrong config file or a missing optional package: nothing was tried. */
  usage: 2,
  /** `exec`: the timeout ended the command. */
  timedOut: 124,
  /** `exec`: the command was refused or could not be started. */
  notStarted: 125,
} as const

export const exitCodesHelp = `
Exit codes:
  0    success
  1    the operation failed; search: no line; verify: a failed check;
       doctor: no commands here
  2    wrong arguments or config file, a missing package; nothing was tried
  exec ends with the command's own code, and with
  124  when --timeout ended it
  125  when it was refused or could not be started
  128+n when signal n ended it
  Every command ends with 130 after Ctrl-C, and 141 when its output is closed.`

/** As shells report an end by signal: 128 and the signal's number. */
export function signalExitCode(signal: string): number {
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1]
  return 128 + (number ?? 0)
}
