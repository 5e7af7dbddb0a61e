import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

import { type Child, identify } from '../processes/first-process.ts'
import type { SpareDescriptors, SupervisorLine } from './wire.ts'

export interface Spare {
  readonly id: number
  readonly child: Child
  readonly order: number
  readonly stdin: number
  readonly stdout: number
  readonly stderr: number
  readonly report: number
  /** Closes the descriptors that no caller has taken. */
  close(): void
  /** Gives a descriptor to the caller, who closes it. */
  take(which: 'order' | 'stdin' | 'stdout' | 'stderr' | 'report'): number
}

/**
 * Opens a spare's pipes through `/proc`. These are new descriptors, whose flags the command does not share.
 * @param supervisor its process number in this process's namespace @returns `undefined` if the process of the spare has ended
 * @throws the system's error, or an error for descriptors that do not belong to a spare
 */
export function openSpare(supervisor: number, { id, pid, fds }: SupervisorLine & { what: 'spare' }): Spare | undefined {
  const first = pidBehind(supervisor, pid, fds)
  const child = first === undefined ? undefined : identify(first)
  if (child?.startTime === undefined) return undefined
  const open = new Map<string, number>()
  const close = () => {
    for (const fd of open.values()) closeSync(fd)
    open.clear()
  }
  const pipe = (which: Exclude<keyof SpareDescriptors, 'pidfd'>, flags: number) => {
    const fd = openSync(`/proc/${supervisor}/fd/${fds[which]}`, flags | constants.O_NONBLOCK)
    open.set(which, fd)
    if (!fstatSync(fd).isFIFO()) throw new Error('a descriptor that is not a pipe')
    return fd
  }
  try {
    return {
      id,
      child,
      order: pipe('order', constants.O_WRONLY),
      stdin: pipe('stdin', constants.O_WRONLY),
      stdout: pipe('stdout', constants.O_RDONLY),
      stderr: pipe('stderr', constants.O_RDONLY),
      report: pipe('report', constants.O_RDONLY),
      close,
      take(which) {
        const fd = open.get(which)
        if (fd === undefined) throw new Error('a descriptor that was taken already')
        open.delete(which)
        return fd
      },
    }
  } catch (error) {
    close()
    throw error
  }
}

/** The process that a pidfd refers to; `undefined` if the process has ended. `/proc` shows numbers in the reader's namespace. */
function pidBehind(supervisor: number, expected: number, { pidfd }: SpareDescriptors): number | undefined {
  const info = readFileSync(`/proc/${supervisor}/fdinfo/${pidfd}`, 'latin1')
  if (/^Pid:\s*-1$/m.test(info)) return undefined
  const pid = Number(/^Pid:\s*(\d+)$/m.exec(info)?.[1] ?? 0)
  const inner = /^NSpid:((?:\s+\d+)+)$/m.exec(info)?.[1]?.trim().split(/\s+/).map(Number) ?? []
  // Numbers in each namespace, the outermost first: this process's namespace, the supervisor's, and the spare's own, where it is 1.
  if (pid <= 0 || inner.at(-1) !== 1 || inner.at(-2) !== expected) throw new Error('not the process of a spare')
  return pid
}
