import { type CommandLimits, isWorkspaceError, WorkspaceError } from '@ws/core'
import { getNativeCause } from '@ws/core/executor'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { type CommandGroup, cgroupRemedy, createGroup, killAll, removed, setLimits, unenforceable } from './group.ts'
import { type CgroupKernel, kernel as realKernel } from './kernel.ts'
import { isAbandoned, nextName } from './names.ts'

/** A cgroup v2 group. This process creates a subgroup for each command. */
export interface DelegatedCgroup {
  /** Creates a group with `memoryBytes` and `processes`. The caller ends it. @throws `EUNENFORCEABLE` if a limit cannot be set */
  make(limits: CommandLimits, options: { readonly ownProcesses: number }): CommandGroup
}

export interface DelegatedCgroupOptions {
  /** Controllers that the subgroups need. Default: all controllers that limits use. */
  readonly controllers?: readonly string[] | undefined
  readonly kernel?: CgroupKernel | undefined
}

/**
 * Opens a group by its host path, enables its controllers for subgroups, and removes leftovers. @throws WorkspaceError `EUNENFORCEABLE`
 */
export function openCgroup(path: string, options: DelegatedCgroupOptions = {}): DelegatedCgroup {
  const { controllers = ['memory', 'pids'], kernel = realKernel } = options
  const place = examine(path, kernel)
  enable(place, controllers, kernel)
  sweep(place, kernel)
  // Creates a group as a test: no other check shows that a command's group can be created.
  makeBelow(place, kernel).remove()
  return {
    make(limits, { ownProcesses }) {
      checkAgainstAbove(place, limits, ownProcesses)
      const { path: group, remove } = makeBelow(place, kernel)
      try {
        setLimits(group, limits, { kernel, ownProcesses })
      } catch (error) {
        remove()
        throw error
      }
      return createGroup(group, kernel)
    },
  }
}

function examine(path: string, kernel: CgroupKernel): string {
  let place: string
  try {
    place = realpathSync(path)
    if (kernel.isCgroup(place)) return place
  } catch (native) {
    throw unenforceable('it cannot be found', native)
  }
  throw unenforceable('it is not on a cgroup v2 file system')
}

function enable(place: string, controllers: readonly string[], kernel: CgroupKernel): void {
  const lacking = (file: string) => {
    const there = readFileSync(join(place, file), 'latin1').split(/\s+/)
    return controllers.filter((controller) => !there.includes(controller))
  }
  const absent = lacking('cgroup.controllers')
  if (absent.length > 0) throw unenforceable(`it lacks the controllers ${absent.join(', ')}`)
  const off = lacking('cgroup.subtree_control')
  if (off.length === 0) return
  try {
    kernel.write(join(place, 'cgroup.subtree_control'), off.map((controller) => `+${controller}`).join(' '))
  } catch (native) {
    const busy = native instanceof Error && 'code' in native && native.code === 'EBUSY'
    const why = busy ? 'there are processes in it itself' : 'it is not writable'
    throw unenforceable(`the controllers ${off.join(', ')} cannot be given to groups below it: ${why}`, native)
  }
  if (lacking('cgroup.subtree_control').length > 0) throw unenforceable('its controllers did not become active')
}

/** Kills and removes leftover groups. If killed processes still exist, the next sweep removes their group. */
function sweep(place: string, kernel: CgroupKernel): void {
  for (const name of readdirSync(place)) {
    if (!isAbandoned(name)) continue
    killAll(join(place, name), kernel)
    removed(join(place, name), kernel)
  }
}

function makeBelow(place: string, kernel: CgroupKernel): { readonly path: string; remove(): void } {
  for (;;) {
    const path = join(place, nextName())
    try {
      kernel.make(path)
      return { path, remove: () => void removed(path, kernel) }
    } catch (native) {
      // Another copy of this module in this process has its own counter, so both can choose the same name.
      if (native instanceof Error && 'code' in native && native.code === 'EEXIST') continue
      throw unenforceable('no group can be made in it', native)
    }
  }
}

/** Refuses a limit above an ancestor's limit, because the kernel applies the lowest limit. */
function checkAgainstAbove(place: string, { memoryBytes, processes }: CommandLimits, ownProcesses: number): void {
  const wanted = {
    memoryBytes: { file: 'memory.max', value: memoryBytes, own: 0 },
    processes: { file: 'pids.max', value: processes, own: ownProcesses },
  }
  for (const [field, { file, value, own }] of Object.entries(wanted)) {
    if (value === undefined) continue
    for (let group = place; existsSync(join(group, file)); group = dirname(group)) {
      const above = Number(readFileSync(join(group, file), 'latin1'))
      if (Number.isNaN(above) || value + own <= above) continue
      throw new WorkspaceError({
        code: 'EUNENFORCEABLE',
        operation: 'exec',
        reason: `the limit \`${field}\` is wider than that of the control group around it (${above - own})`,
        remedy: `give at most ${above - own}, or widen \`${file}\` of the group that \`cgroup\` names`,
      })
    }
  }
}

/** Opens the group while an executor is attached. @throws WorkspaceError `ENOEXECUTOR` */
export function attachCgroup(path: string | undefined): DelegatedCgroup | undefined {
  if (path === undefined) return undefined
  try {
    return openCgroup(path)
  } catch (native) {
    const reason = isWorkspaceError(native) ? native.reason : 'the control group cannot be used'
    throw new WorkspaceError({
      code: 'ENOEXECUTOR',
      operation: 'attach',
      reason,
      remedy: cgroupRemedy,
      native: getNativeCause(native),
    })
  }
}
