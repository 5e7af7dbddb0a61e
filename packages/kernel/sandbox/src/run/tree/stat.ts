import { readdirSync, readFileSync } from 'node:fs'

import { isShort, withSpareDescriptor } from '../room.ts'

export interface ProcessStat {
  readonly pid: number
  /** The name, cut by the kernel to 15 bytes. */
  readonly name: string
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Number of the terminal's device; 0 without a terminal. */
  readonly terminal: number
  /** The foreground group of the process's terminal. */
  readonly foreground: number
  /** Clock ticks since boot, which distinguish the process from a later one with the same number. */
  readonly startTime: string
  /** The process has ended, but its parent has not collected the status. */
  readonly zombie: boolean
}

/** A process's status; `undefined`: missing or hidden. @throws the system's error without descriptors: a live process must not seem gone */
export function readProcessStat(pid: number): ProcessStat | undefined {
  try {
    const line = withSpareDescriptor(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
    // The name is between parentheses and may hold anything, parentheses too.
    const end = line.lastIndexOf(')')
    const fields = line.slice(end + 2).split(' ')
    const [state, parent, group, session, terminal, foreground] = fields
    return {
      pid,
      name: line.slice(line.indexOf('(') + 1, end),
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      terminal: Number(terminal),
      foreground: Number(foreground),
      startTime: fields[19] ?? '',
      zombie: state === 'Z' || state === 'X',
    }
  } catch (error) {
    if (isShort(error)) throw error
    return undefined
  }
}

/** All visible processes; none without a spare descriptor. Even then, a group can be signalled. */
export function listProcesses(): ProcessStat[] {
  let names: string[]
  try {
    names = withSpareDescriptor(() => readdirSync('/proc'))
  } catch (error) {
    if (isShort(error)) return []
    throw error
  }
  return names
    .filter((name) => name.charCodeAt(0) <= 57)
    .map((name) => findProcess(Number(name)))
    .filter((entry) => entry !== undefined)
}

/** Like {@link readProcessStat}, for callers that may miss a process. */
export function findProcess(pid: number): ProcessStat | undefined {
  try {
    return readProcessStat(pid)
  } catch {
    return undefined // too few descriptors
  }
}

/** Whether at least one thread waits in the kernel such that no signal ends it. */
export function waitsUninterruptibly(pid: number): boolean {
  try {
    return withSpareDescriptor(() => readdirSync(`/proc/${pid}/task`)).some((thread) => {
      const line = withSpareDescriptor(() => readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1'))
      return line.charAt(line.lastIndexOf(')') + 2) === 'D'
    })
  } catch {
    return false
  }
}
