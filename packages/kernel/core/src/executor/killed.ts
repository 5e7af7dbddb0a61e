import { WorkspaceError } from '../errors.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { CommandResult, ExecutorResult } from '../contract/executor.ts'

/** The signals of Linux in the order of their numbers, from 1. */
const signals =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(
    ' ',
  )

/** The exit status for a signal without a known number. */
const unknownSignal = 255

/** Returns the exit code, or 128 plus the signal number. */
export function exitStatusOf({ exitCode, signal }: Pick<CommandResult, 'exitCode' | 'signal'>): number {
  if (exitCode !== null) return exitCode
  const name = (signal ?? '').replace(/^SIG/, '')
  // Real-time signals have a number instead of a name: `SIG34`.
  const number = /^\d+$/.test(name) ? Number(name) : signals.indexOf(name) + 1
  return number === 0 ? unknownSignal : 128 + number
}

const results = new WeakMap<object, CommandResult>()

/** Returns `EIO`: another program killed the sandbox, so the end is unknown. {@link getCommandResult} returns the known part. */
export function sandboxKilled(result: ExecutorResult): WorkspaceError {
  const error = new WorkspaceError({
    code: 'EIO',
    operation: 'exec',
    reason: 'the sandbox was killed while the command ran; its changes so far stay',
    remedy: 'look at what it left, then run it again; if it comes back, this machine may be out of memory',
  })
  results.set(error, withExitStatus(result))
  return error
}

/** Returns `EIO` for a command that was killed because `path`, or all protected paths, were no longer protected. Omits its output. */
export function protectionLost(
  result: ExecutorResult,
  lost: { readonly path: VirtualPath; readonly rule: string | undefined } | undefined,
): WorkspaceError {
  const error = new WorkspaceError({
    code: 'EIO',
    operation: 'exec',
    path: lost?.path,
    rule: lost?.rule,
    reason:
      lost === undefined
        ? 'the command was ended, since nothing watched any more what rules protect'
        : 'was replaced from outside while the command ran, which was ended, since nothing protected it any more',
    remedy: 'look at what the command left, then run it again',
  })
  const exposed = lost?.rule !== undefined && { rule: lost.rule, path: lost.path, kind: 'exposed' as const }
  // The output may contain denied content.
  const known = withExitStatus({ ...result, stdout: '', stderr: '', output: '' })
  results.set(error, exposed ? { ...known, violations: [...(result.violations ?? []), exposed] } : known)
  return error
}

/** Returns `EIO` for a command that was killed, since a listing could not be corrected. Most programs treat a failed listing as empty. */
export function listingLost(result: ExecutorResult): WorkspaceError {
  const error = new WorkspaceError({
    code: 'EIO',
    operation: 'exec',
    reason:
      'the command was ended: a program that no other may read listed a directory, which cannot be answered at `/`',
    remedy:
      'look at what the command left; mount the workspace at `/workspace`, or give the program the right to be read',
  })
  results.set(error, withExitStatus(result))
  return error
}

/** Attaches the result of an ended command to a later error, for {@link getCommandResult}. */
export function withResult(error: unknown, result: CommandResult): unknown {
  if (typeof error === 'object' && error !== null) results.set(error, result)
  return error
}

/** Returns the known result of a command whose sandbox was killed, or whose changes could not be saved; else `undefined`. */
export function getCommandResult(error: unknown): CommandResult | undefined {
  return typeof error === 'object' && error !== null ? results.get(error) : undefined
}

export function withExitStatus(result: ExecutorResult): CommandResult {
  return { ...result, exitStatus: exitStatusOf(result) }
}
