import { findProcess, listProcesses, type ProcessStat, readProcessStat, waitsUninterruptibly } from './stat.ts'

/** A process. The start time distinguishes it from a later process with the same pid. */
export interface SeenProcess {
  readonly pid: number
  readonly startTime: string
}

/** Returns a process's living descendants, session and group, but not itself. Misses a daemon that left its session and parent. */
export function findTree(root: number): SeenProcess[] {
  return findMembers(root).filter(({ zombie }) => !zombie)
}

/** Works like {@link findTree}, but also returns processes whose first thread has ended. */
export function findMembers(root: number): ProcessStat[] {
  const all = listProcesses()
  const members = new Set([root])
  for (let before = 0; before !== members.size; ) {
    before = members.size
    for (const { pid, parent, group, session } of all) {
      if (members.has(parent) || group === root || session === root) members.add(pid)
    }
  }
  return all.filter(({ pid }) => pid !== root && members.has(pid))
}

/** Returns whether a process lives. Also returns true if a lack of descriptors prevents the check. */
export function isAlive({ pid, startTime }: SeenProcess): boolean {
  let now: ProcessStat | undefined
  try {
    now = readProcessStat(pid)
  } catch {
    return true
  }
  return now !== undefined && !now.zombie && now.startTime === startTime
}

/** A process counts as stuck if all checks during this many milliseconds find it waiting in the kernel. */
const stuckMs = 500

/** Detects killed processes that no signal can end, by repeated checks. */
export class StuckWatch {
  #waitingSince = new Map<string, number>()

  /** Returns whether a member was waiting in the kernel at every check for half a second. */
  look(members: readonly SeenProcess[], waits = isUninterruptible, now = performance.now()): boolean {
    const keyOf = ({ pid, startTime }: SeenProcess) => `${pid} ${startTime}`
    const waiting = members.filter(waits).map(keyOf)
    this.#waitingSince = new Map(waiting.map((key) => [key, this.#waitingSince.get(key) ?? now]))
    return [...this.#waitingSince.values()].some((since) => now - since >= stuckMs)
  }
}

function isUninterruptible({ pid, startTime }: SeenProcess): boolean {
  return waitsUninterruptibly(pid) && findProcess(pid)?.startTime === startTime
}

/** Sends a signal. Returns false for a missing or forbidden process. A negative pid means a group. */
export function sendSignal(pid: number, signal: NodeJS.Signals | number): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/**
 * Kills a tree. First stops its members until no new member appears, so that none escapes by a fork. Then kills all.
 * @param known members found earlier, which may have lost their parents since
 */
export function killTree(root: number, known: readonly SeenProcess[] = []): SeenProcess[] {
  const frozen = new Map<number, SeenProcess>()
  // Stops the root first: it must not start more processes, or react to the death of its children.
  sendSignal(-root, 'SIGSTOP')
  for (let round = 0; round < 50; round++) {
    const found = [...known.filter(isAlive), ...findTree(root)].filter(({ pid }) => !frozen.has(pid))
    if (found.length === 0) break
    for (const entry of found) {
      frozen.set(entry.pid, entry)
      sendSignal(entry.pid, 'SIGSTOP')
    }
  }
  for (const pid of frozen.keys()) sendSignal(pid, 'SIGKILL')
  sendSignal(-root, 'SIGKILL')
  return [...frozen.values()]
}
