import { listProcesses, type ProcessStat, sendSignal } from '@ws/process'

/**
 * Sends a signal to the command's process group, but not to proot in it, which takes some signals for orders of its
 * own: SIGQUIT ends everything, SIGUSR1 prints its memory.
 *
 * @param root the process that was started: a supervisor or a namespace's parent
 * @returns false if no process got it
 */
export function signalGroup(root: number, signal: NodeJS.Signals): boolean {
  const entries = listProcesses()
  const tracer = findTracer(entries, root)
  if (tracer === undefined) return false
  const members = entries.filter(({ pid, group, name }) => group === tracer.group && pid !== root && name !== 'proot')
  return members.map(({ pid }) => sendSignal(pid, signal)).some(Boolean)
}

function findTracer(entries: readonly ProcessStat[], root: number): ProcessStat | undefined {
  const below = new Set([root])
  for (let size = 0; size !== below.size; ) {
    size = below.size
    for (const { pid, parent } of entries) if (below.has(parent)) below.add(pid)
  }
  return entries.find(({ pid, name }) => name === 'proot' && below.has(pid))
}
