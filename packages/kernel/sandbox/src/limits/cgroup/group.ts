import { type CommandLimits, WorkspaceError } from '@ws/core'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import type { CgroupKernel } from './kernel.ts'

export interface CommandGroup {
  /** Moves a process and its later children into the group. @throws WorkspaceError `EUNENFORCEABLE` */
  join(pid: number): void
  /** Kills the group's remaining processes, and removes the group. If the removal fails, a later sweep removes the group. Never rejects. */
  end(): Promise<void>
}

/** Maximum attempts to remove a group, 5 ms apart: killed processes need some time to end. */
const attempts = 200

const largestPage = 65_536

/** Sets limits, and reads the kernel's values back. `ownProcesses`: number of executor processes. @throws WorkspaceError `EUNENFORCEABLE` */
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
    // The kernel counts whole pages, and rounds down.
    set('memory.max', memoryBytes, largestPage)
    // Without this file, the kernel does not swap, or does not count swap.
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

/** Kills all processes of a group. Kernels before 5.14 have no `cgroup.kill`. */
export function killAll(path: string, kernel: CgroupKernel): void {
  try {
    kernel.write(join(path, 'cgroup.kill'), '1')
  } catch {}
}

/** Removes a group. Returns false if the group still has processes. */
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
