import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { threadId } from 'node:worker_threads'

import { z } from 'zod'

export function holderName(): string {
  return `${hostname()}, process ${process.pid}`
}

export const processSchema = z.object({
  system: z.string(),
  pid: z.int(),
  started: z.string(),
  thread: z.int(),
})

export type HoldingProcess = z.output<typeof processSchema>

export const ownProcess: HoldingProcess | undefined = lookAtOwn()

/** The leases that this process holds, shared by all copies of this module. */
const key = Symbol.for('@ws/threads: holds of this process')
const shared = globalThis as unknown as Record<symbol, Set<string> | undefined>
export const ownHolds: Set<string> = (shared[key] ??= new Set())

/** True if the holder, a process of this machine, has ended or has lost the lease. A stopped or remote process counts as alive. */
export function hasEnded(holder: HoldingProcess | undefined, hold: string | undefined): boolean {
  if (holder === undefined || ownProcess === undefined || holder.system !== ownProcess.system) return false
  if (holder.pid === ownProcess.pid && holder.started === ownProcess.started) {
    return holder.thread === threadId && hold !== undefined && !ownHolds.has(hold)
  }
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    // `EPERM`: the process exists and belongs to another user
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return true
  }
  const status = statusOf(holder.pid)
  // without a status, /proc may hide a process that exists
  return status !== undefined && (status.started !== holder.started || 'ZX'.includes(status.state))
}

function lookAtOwn(): HoldingProcess | undefined {
  const status = statusOf(process.pid)
  if (status === undefined) return undefined
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const system = `${boot} ${readlinkSync('/proc/self/ns/pid')}`
    return { system, pid: process.pid, started: status.started, thread: threadId }
  } catch {
    return undefined // not Linux: a lease then ends by its TTL
  }
}

function statusOf(pid: number): { readonly state: string; readonly started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the name of a program may contain any character, also brackets
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [state, started] = [fields[0], fields[19]]
    return state === undefined || started === undefined ? undefined : { state, started }
  } catch {
    return undefined // the process has ended, or /proc does not show it
  }
}
