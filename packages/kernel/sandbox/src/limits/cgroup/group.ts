import { type CommandLimits, WorkspaceError } from '@ws/core'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import type { CgroupKernel } from './kernel.ts'

export interface CommandGroup {
  /** Moves a process and its later children into the group. @throws WorkspaceError `EUNENFORCEABLE` */
  join(pid: number): void
  /** Ends the rest of the group, and removes it. Never rejects: a later group removes it otherwise. */
  end(): Promise<void>
}

/** Limit of attempts to remove a group, 5 ms apart: killed processes need a moment. */
const attempts = 200

const largestPage = 65_536

/** Sets limits, and reads back the kernel's values. `ownProcesses`: those of the executor. @throws WorkspaceError `EUNENFORCEABLE` */
export function setLimits(
  path: string,
  { memoryBytes, processes }: CommandLimits,
  { kernel, ownProcesses }: { kernel: CgroupKernel; ownProcesses: number },
): void {
  const set = (file: string, value: number, rounding = 0) => {
    let held: number
    try {
      kernel.write(join(path, file), String(value))
      held = Number(readFileSync(join(path, file), 'latin1').trim())
    } catch (native) {
      throw unenforceable(`\`${file}\` cannot be set`, native)
    }
    if (!(held <= value && held > value - 1 - rounding)) throw unenforceable(`\`${file}\` did not take the value`)
  }
  if (memoryBytes !== undefined) {
    // The kernel counts in whole pages, and rounds down.
    set('memory.max', memoryBytes, largestPage)
    // Without the file, the kernel does not swap, or does not count it.
    if (exists(join(path, 'memory.swap.max'))) set('memory.swap.max', 0)
  }
  if (processes !== undefined) set('pids.max', processes + ownProcesses)
}

export function createGroup(path: string, kernel: CgroupKernel): CommandGroup {
  return {
    join(pid) {
      try {
        kernel.write(join(path, 'cgroup.procs'), String(pid))
      } catch (native) {
        throw unenforceable('a process cannot be moved into it', native)
      }
    },
    async end() {
      killAll(path, kernel)
      for (let attempt = 0; attempt < attempts && !removed(path, kernel); attempt++) await delay(5)
    },
  }
}

/** Kernels before 5.14 have no `cgroup.kill`. */
export function killAll(path: string, kernel: CgroupKernel): void {
  try {
    kernel.write(join(path, 'cgroup.kill'), '1')
  } catch {}
}

/** Removes a group. `false`: the group still has processes. */
export function removed(path: string, kernel: CgroupKernel): boolean {
  try {
    kernel.remove(path)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EBUSY')
  }
}

export function unenforceable(reason: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'EUNENFORCEABLE',
    operation: 'exec',
    reason: `the control group that the option \`cgroup\` names does not hold limits: ${reason}`,
    remedy: cgroupRemedy,
    native,
  })
}

export const cgroupRemedy =
  'name a cgroup v2 group that is delegated to this process (systemd: `Delegate=memory pids` with `DelegateSubgroup=main`, ' +
  'and as `cgroup` the group of the service itself), or leave `cgroup` out'

function exists(path: string): boolean {
  try {
    readFileSync(path)
    return true
  } catch {
    return false
  }
}
