import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

import { type Child, identify } from '../processes/first-process.ts'
import type { SpareDescriptors, SupervisorLine } from './wire.ts'

/** A sandbox that waits for its command: every end of its pipes that this process has. */
export interface Spare {
  readonly id: number
  /** Its first process, as this process sees it. */
  readonly child: Child
  readonly order: number
  readonly stdin: number
  readonly stdout: number
  readonly stderr: number
  readonly report: number
  /** Closes the descriptors that nothing has taken over yet. */
  close(): void
  /** Hands a descriptor over to the caller, who closes it. */
  take(which: 'order' | 'stdin' | 'stdout' | 'stderr' | 'report'): number
}

/**
 * Opens the pipes of a spare through `/proc`: a descriptor of its own, whose flags the command does not share.
 *
 * @param supervisor its number on this machine
 * @returns `undefined` where its process has ended: there may be too many processes for the command-to-be
 * @throws the system's error, or an error for descriptors that are not those of a spare
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

/** The process of a process descriptor; `undefined` once it has ended. The kernel gives its number as the reader of `/proc` counts. */
function pidBehind(supervisor: number, expected: number, { pidfd }: SpareDescriptors): number | undefined {
  const info = readFileSync(`/proc/${supervisor}/fdinfo/${pidfd}`, 'latin1')
  if (/^Pid:\s*-1$/m.test(info)) return undefined
  const pid = Number(/^Pid:\s*(\d+)$/m.exec(info)?.[1] ?? 0)
  const inner = /^NSpid:((?:\s+\d+)+)$/m.exec(info)?.[1]?.trim().split(/\s+/).map(Number) ?? []
  // On this machine, in the supervisor's namespace, and process 1 of its own, from outside in.
  if (pid <= 0 || inner.at(-1) !== 1 || inner.at(-2) !== expected) throw new Error('not the process of a spare')
  return pid
}
