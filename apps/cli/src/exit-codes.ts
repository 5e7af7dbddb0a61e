import { constants } from 'node:os'

/** Exit codes of `ws`. `exec` returns the command's own code instead of {@link exitCodes.ok}. */
export const exitCodes = {
  ok: 0,
  /** The operation or a check failed, or the workspace refuses commands. */
  failed: 1,
  usage: 2,
  timedOut: 124,
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

/** The exit code for a signal, as in shells: 128 plus its number. */
export function signalExitCode(signal: string): number {
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1]
  return 128 + (number ?? 0)
}
