import { readdirSync, readFileSync } from 'node:fs'

/** The fields of `/proc/PID/stat` for a process. */
export interface ProcessStat {
  readonly pid: number
  /** As the kernel shortens it: 15 bytes. */
  readonly name: string
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Number of its terminal's device; 0 without one. */
  readonly terminal: number
  /** The group in the foreground of that terminal. */
  readonly foreground: number
  /** Clock ticks since the machine started: tells it from a later one with the same number. */
  readonly startTime: string
  /** It has ended, and only its parent has not heard of it. */
  readonly zombie: boolean
}

/** `undefined` when there is no such process, or it cannot be seen. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
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
  } catch {
    return undefined
  }
}

/** All that can be seen now. */
export function listProcesses(): ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => name.charCodeAt(0) <= 57)
    .map((name) => readProcessStat(Number(name)))
    .filter((entry) => entry !== undefined)
}

/** It waits in the kernel for something that does not answer, with one of its threads at least: no signal ends it. */
export function waitsUninterruptibly(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some((thread) => {
      const line = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')
      return line.charAt(line.lastIndexOf(')') + 2) === 'D'
    })
  } catch {
    return false
  }
}
