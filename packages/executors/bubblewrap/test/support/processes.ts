import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export interface Seen {
  readonly pid: number
  readonly parent: number
  readonly arguments: string
}

/** Every living process of this machine. */
export function processes(): Seen[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const line = readFileSync(`/proc/${name}/stat`, 'latin1')
        const [state, parent] = line.slice(line.lastIndexOf(')') + 2).split(' ')
        if (state === 'Z' || state === 'X') return []
        const parameters = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return [{ pid: Number(name), parent: Number(parent), arguments: parameters }]
      } catch {
        return []
      }
    })
}

export function processesWith(marker: string): Seen[] {
  return processes().filter((entry) => entry.arguments.includes(marker) && entry.pid !== process.pid)
}

/**
 * bubblewrap, as this process has started it for a command with a marker among its arguments. A sandbox that was ready knew
 * no command then.
 */
export function outerProcesses(marker: string, mode: string): Seen[] {
  return processesWith(mode.startsWith('warm') ? '/bwrap --args' : marker).filter(
    ({ parent }) => parent === process.pid,
  )
}

/** Waits until a condition holds, and says whether it ever did. */
export async function eventually(condition: () => boolean, timeout = 10_000): Promise<boolean> {
  const until = performance.now() + timeout
  while (!condition()) {
    if (performance.now() > until) return false
    await delay(10)
  }
  return true
}
