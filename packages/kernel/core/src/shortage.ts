import type { ErrorCode } from './errors.ts'
import { getNativeCause, isWorkspaceError, WorkspaceError } from './errors.ts'

export interface Shortage {
  /** The code for files. A command that cannot start has `ENOEXEC` instead. */
  readonly code: ErrorCode
  /** A sentence without its final period. */
  readonly reason: string
  readonly remedy: string
}

const shortages = {
  EMFILE: {
    code: 'EIO',
    reason: 'this process has too many open files',
    remedy: 'leave listings, streams and commands you no longer need, or raise the limit on open files (`ulimit -n`)',
  },
  ENFILE: {
    code: 'EIO',
    reason: 'this machine has too many open files',
    remedy: 'end programs that hold files open, or raise the limit of the machine (`fs.file-max`)',
  },
  EAGAIN: {
    code: 'EIO',
    reason: 'there are as many processes and threads as this user or its control group may have',
    remedy: 'end processes that are no longer needed, or raise the limit (`ulimit -u`, `pids.max`)',
  },
  ENOMEM: {
    code: 'EIO',
    reason: 'the system has no memory left for it',
    remedy: 'end programs that are no longer needed, or raise the limit on memory',
  },
  ETOOMANYREFS: {
    code: 'EIO',
    reason: 'as many descriptors as one user may send are on their way between processes',
    remedy: 'end the commands that send descriptors to each other, or wait until they have ended',
  },
  ENOSPC: { code: 'ENOSPC', reason: 'no space is left on the disk', remedy: 'free some space' },
  namespaces: {
    code: 'EIO',
    reason: 'there are as many namespaces as this machine allows',
    remedy:
      'end sandboxes that are no longer needed, or raise the limits (`sysctl user.max_user_namespaces`, and so on)',
  },
  EDQUOT: { code: 'EDQUOT', reason: 'the quota of the disk is used up', remedy: 'free some space' },
} satisfies Readonly<Record<string, Shortage>>

type ShortageName = keyof typeof shortages

/** Messages of the C library for shortages, as programs print them. */
const sentences: readonly (readonly [string, ShortageName])[] = [
  ['Too many open files in system', 'ENFILE'],
  ['Too many open files', 'EMFILE'],
  ['Resource temporarily unavailable', 'EAGAIN'],
  ['Cannot fork', 'EAGAIN'], // dash omits the reason
  ['Cannot allocate memory', 'ENOMEM'],
  ['No space left on device', 'ENOSPC'],
  ['Disk quota exceeded', 'EDQUOT'],
]

/**
 * For adapters and executors: returns the shortage in an error or its native cause. `EAGAIN` counts only for starts of processes.
 * A shortage is temporary: do not cache the result of a check that failed with it.
 */
export function shortageOf(error: unknown): Shortage | undefined {
  if (isWorkspaceError(error)) return shortageOf(getNativeCause(error))
  if (!(error instanceof Error)) return undefined
  if (!('code' in error)) return shortageIn(error.message)
  const code = error.code === 'ERR_WORKER_INIT_FAILED' ? workerShortage(error) : String(error.code)
  const isMeant = code !== 'EAGAIN' || !('syscall' in error) || /^(?:spawn|fork)/.test(String(error.syscall))
  return isMeant ? shortageNamed(code) : undefined
}

/** For adapters and executors: returns the shortage for the name of a system error. */
export function shortageNamed(name: string): Shortage | undefined {
  return Object.hasOwn(shortages, name) ? shortages[name as ShortageName] : undefined
}

/** For executors: returns the shortage that a program reports in its messages. */
export function shortageIn(output: string): Shortage | undefined {
  // Linux has the same error for a full disk and for the limit of namespaces.
  if (/(?:unshare|namespace)[^\n]*: No space left on device/iu.test(output)) return shortages.namespaces
  const found = sentences.find(([sentence]) => output.includes(sentence))
  return found === undefined ? undefined : shortages[found[1]]
}

/** Returns the system error of a worker that could not start. Node puts its name only into the message. */
function workerShortage({ message }: Error): string {
  return /\bE[A-Z]+\b(?!_)/.exec(message.replace('ERR_WORKER_INIT_FAILED', ''))?.[0] ?? 'EAGAIN'
}

/** For executors: returns the error of a command that could not start because of a shortage. */
export function shortError(
  { code, reason, remedy }: Shortage,
  { operation = 'exec', native }: { readonly operation?: string | undefined; readonly native?: unknown } = {},
): WorkspaceError {
  return new WorkspaceError({
    code: code === 'EIO' ? 'ENOEXEC' : code,
    operation,
    reason: `the command was not started: ${reason}`,
    remedy,
    native,
  })
}
