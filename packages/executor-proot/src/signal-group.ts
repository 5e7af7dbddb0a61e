import { readdirSync, readFileSync } from 'node:fs'

interface Entry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly name: string
}

/**
 * Sends a signal to the command's process group, but not to proot in it, which takes some signals for orders of its own:
 * SIGQUIT ends everything, SIGUSR1 prints its memory.
 *
 * @param root what was started: a supervisor or a namespace's parent
 * @returns false if nobody got it
 */
export function signalGroup(root: number, signal: NodeJS.Signals): boolean {
  const entries = readProcesses()
  const tracer = findTracer(entries, root)
  if (tracer === undefined) return false
  const members = entries.filter(({ pid, group, name }) => group === tracer.group && pid !== root && name !== 'proot')
  return members.map(({ pid }) => send(pid, signal)).some(Boolean)
}

function findTracer(entries: readonly Entry[], root: number): Entry | undefined {
  const below = new Set([root])
  for (let size = 0; size !== below.size; ) {
    size = below.size
    for (const { pid, parent } of entries) if (below.has(parent)) below.add(pid)
  }
  return entries.find(({ pid, name }) => name === 'proot' && below.has(pid))
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

function readProcesses(): Entry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): Entry[] => {
      try {
        const line = readFileSync(`/proc/${name}/stat`, 'latin1')
        const end = line.lastIndexOf(')')
        const [, parent, group] = line.slice(end + 2).split(' ')
        const comm = line.slice(line.indexOf('(') + 1, end)
        return [{ pid: Number(name), parent: Number(parent), group: Number(group), name: comm }]
      } catch {
        return []
      }
    })
}
