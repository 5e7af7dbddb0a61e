import { readdirSync, readFileSync } from 'node:fs'

import { isShort, withSpareDescriptor } from '../room.ts'
import { askPs } from './ps.ts'

export interface ProcessStat {
  readonly pid: number
  /** The program's name. The kernel cuts it to 15 bytes. */
  readonly name: string
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Device number of the terminal; 0 without a terminal. */
  readonly terminal: number
  /** The foreground process group of the terminal. */
  readonly foreground: number
  /** Start time in clock ticks since boot; without `/proc`, in milliseconds since the epoch. Distinguishes the process from a later process with the same pid. */
  readonly startTime: string
  /** True if the process has ended, but its parent has not collected the status. */
  readonly zombie: boolean
}

/** Returns a process's status; `undefined`: missing or hidden. @throws on a lack of descriptors: a live process must not seem gone */
export function readProcessStat(pid: number): ProcessStat | undefined {
  if (process.platform !== 'linux') return askPs(pid)[0]
  try {
    const line = withSpareDescriptor(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
    // The name is between parentheses. It may contain any characters, parentheses too.
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

/** Returns all visible processes; none without a spare descriptor. Callers can signal a group even then. */
export function listProcesses(): ProcessStat[] {
  if (process.platform !== 'linux') return askPs()
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

/** Works like {@link readProcessStat}, for callers that may miss a process. */
export function findProcess(pid: number): ProcessStat | undefined {
  try {
    return readProcessStat(pid)
  } catch {
    return undefined // no descriptors are left
  }
}

/** Returns whether a thread waits in the kernel in a state that no signal can end. */
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
