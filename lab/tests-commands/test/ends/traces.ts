import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** Traces that commands could leave in this process and in the places that executors use. */
export interface Traces {
  /** The target of each open descriptor, without the part that differs from one to the next. */
  readonly descriptors: readonly string[]
  readonly children: readonly string[]
  readonly temporary: readonly string[]
  /** Listeners of the process, by event. */
  readonly listeners: Readonly<Record<string, number>>
  readonly timers: number
}

/**
 * @param own the prefix of directories that the test itself made
 */
export function traces(own: string): Traces {
  return {
    descriptors: readdirSync('/proc/self/fd').flatMap(kindOf).sort(),
    children: readdirSync('/proc').filter(isChild).map(commandOf).sort(),
    temporary: [tmpdir(), '/dev/shm']
      .flatMap((directory) => readdirSync(directory).map((name) => `${directory}/${name}`))
      .filter((path) => path.includes(`-${process.pid}-`) || path.startsWith(own))
      .sort(),
    listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
  }
}

function kindOf(fd: string): string[] {
  try {
    return [readlinkSync(`/proc/self/fd/${fd}`).replace(/\d+/g, 'N')]
  } catch {
    return [] // that of the listing
  }
}

function isChild(pid: string): boolean {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[1] === String(process.pid)
  } catch {
    return false
  }
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').slice(0, 200)
  } catch {
    return ''
  }
}
