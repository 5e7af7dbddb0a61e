import type { CommandResult } from './contract.ts'

/** The signals of Linux in the order of their numbers; the first is 1. */
const signals =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(
    ' ',
  )

/** The status of a signal that has no number here. */
const unknownSignal = 255

/** The end of a command as one number, as a shell gives it: the exit code, or 128 and the number of the signal. */
export function exitStatusOf({ exitCode, signal }: Pick<CommandResult, 'exitCode' | 'signal'>): number {
  if (exitCode !== null) return exitCode
  const name = (signal ?? '').replace(/^SIG/, '')
  // Real-time signals have a number instead of a name: `SIG34`.
  const number = /^\d+$/.test(name) ? Number(name) : signals.indexOf(name) + 1
  return number === 0 ? unknownSignal : 128 + number
}
