import childProcess from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'

export interface FileCost {
  /** Seconds of processor time: of the worker, and of programs that the worker waited for. */
  readonly processor: number
  readonly programsProcessor: number
  /** Number of the worker's direct children, including sandboxes and servers. */
  readonly programs: number
  readonly sandboxes: number
  readonly servers: number
}

const sandboxes = new Set(['bwrap', 'proot'])
const servers = new Set(['ceph-mon', 'ceph-osd', 'radosgw', 'rclone', 'redis-server', 'workerd'])

/** Counts programs started by this process from now on. */
export class CostMeter {
  #programs = 0
  #sandboxes = 0
  #servers = 0
  #before = processorTime()

  watch(): void {
    subscribe('child_process', (message) => {
      // the event comes before the start, when the arguments are not known
      const { process: child } = message as { process: childProcess.ChildProcess }
      queueMicrotask(() => this.#count([child.spawnfile, ...(child.spawnargs ?? [])]))
    })
    // these two functions emit no event
    for (const name of ['spawnSync', 'execFileSync'] as const) {
      const original = childProcess[name] as (file: string, ...rest: unknown[]) => unknown
      const counted = (file: string, ...rest: unknown[]) => {
        this.#count([file, ...(Array.isArray(rest[0]) ? rest[0].map(String) : [])])
        return original(file, ...rest)
      }
      Object.assign(childProcess, { [name]: counted })
    }
    syncBuiltinESMExports()
  }

  /** The cost since the last call. */
  take(): FileCost {
    const now = processorTime()
    const programsProcessor = now.children - this.#before.children
    const cost = {
      processor: now.own - this.#before.own + programsProcessor,
      programsProcessor,
      programs: this.#programs,
      sandboxes: this.#sandboxes,
      servers: this.#servers,
    }
    this.#before = now
    this.#programs = this.#sandboxes = this.#servers = 0
    return cost
  }

  #count(command: readonly string[]): void {
    this.#programs += 1
    // a loader precedes the sandbox, and setpriv precedes a server
    const names = command.map((word) => basename(word))
    if (names.some((name) => sandboxes.has(name))) this.#sandboxes += 1
    else if (names.some((name) => servers.has(name))) this.#servers += 1
  }
}

/** Seconds of processor time of this process and its ended children. */
export function processorTime(): { own: number; children: number } {
  const { user, system } = process.cpuUsage()
  return { own: (user + system) / 1e6, children: childrenTime() }
}

/** Fields 16 and 17 of proc(5), in ticks of 10 ms; 0 without /proc. */
function childrenTime(): number {
  let stat: string
  try {
    stat = readFileSync('/proc/self/stat', 'utf8')
  } catch {
    return 0
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}
