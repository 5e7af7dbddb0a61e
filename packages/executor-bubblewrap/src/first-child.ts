import { readProcessStat, type RunningProcess } from '@ws/sandbox'

/** Process 1 of the sandbox. Its start time distinguishes it from a later process with the same number. */
export interface Child {
  readonly pid: number
  readonly startTime: string | undefined
}

/** It is looked up while it surely lives. */
export function identify(pid: number): Child {
  return { pid, startTime: startTimeOf(pid) }
}

/** True as well where it cannot be looked up, since descriptors are short: streams and timers ask too, and must not throw. */
export function isAlive(child: Child): boolean {
  try {
    return isStill(child)
  } catch {
    return true
  }
}

function isStill({ pid, startTime }: Child): boolean {
  return startTime !== undefined && startTimeOf(pid) === startTime
}

/** @returns false where the sandbox is gone: the number may be another process by then */
export function signalIn(child: Child, pid: number, signal: NodeJS.Signals): boolean {
  try {
    return isStill(child) && process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Process 1 of the namespace: the kernel ends all others with it. Without it, bubblewrap's own end does that. */
export function endSandbox(running: RunningProcess, child: Child): void {
  if (signalIn(child, child.pid, 'SIGKILL')) running.expectEnd()
  else running.kill('SIGKILL')
}

/** A zombie counts as gone. */
function startTimeOf(pid: number): string | undefined {
  const found = readProcessStat(pid)
  return found?.zombie === false ? found.startTime : undefined
}
