import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

interface Process {
  readonly pid: number
  readonly parent: number
  readonly user: string | undefined
  readonly commandLine: string
}

/** Waits up to 15 s until a process of this machine has a word in its command line. */
export async function processWith(word: string): Promise<number | undefined> {
  for (let waited = 0; waited < 15_000; waited += 20) {
    const found = (await all()).find(({ pid, commandLine }) => pid !== process.pid && commandLine.includes(word))
    if (found !== undefined) return found.pid
    await delay(20)
  }
  return undefined
}

/**
 * Returns the executor's own process above `pid`: the child of this process. Where an engine starts the processes, it is the highest
 * ancestor of the same user.
 */
export async function launcherOf(pid: number): Promise<number | undefined> {
  const known = new Map((await all()).map((one) => [one.pid, one]))
  let highest: number | undefined
  for (let current = known.get(pid); current !== undefined; current = known.get(current.parent)) {
    if (current.parent === process.pid) return current.pid
    if (current.user === known.get(pid)?.user) highest = current.pid
  }
  return highest === pid ? undefined : highest
}

async function all(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name))
  return (await Promise.all(pids.map((pid) => readProcess(Number(pid))))).flat()
}

/** Returns an empty list for a process that has ended meanwhile. */
async function readProcess(pid: number): Promise<Process[]> {
  try {
    const [stat, status, commandLine] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/status`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ])
    // the name is in parentheses and may contain any character, so the fields follow the last parenthesis: state, parent
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [{ pid, parent: Number(parent), user: /^Uid:\s*(\d+)/mu.exec(status)?.[1], commandLine }]
  } catch {
    return []
  }
}
