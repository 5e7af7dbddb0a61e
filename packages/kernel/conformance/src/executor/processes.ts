import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

interface Process {
  readonly pid: number
  readonly parent: number
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

/** Returns the child of this process that is `pid` or an ancestor of `pid`. */
export async function childAbove(pid: number): Promise<number | undefined> {
  const parents = new Map((await all()).map((one) => [one.pid, one.parent]))
  for (let current: number | undefined = pid; current !== undefined; current = parents.get(current)) {
    if (parents.get(current) === process.pid) return current
  }
  return undefined
}

async function all(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name))
  return (await Promise.all(pids.map((pid) => readProcess(Number(pid))))).flat()
}

/** Returns an empty list for a process that has ended meanwhile. */
async function readProcess(pid: number): Promise<Process[]> {
  try {
    const [stat, commandLine] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ])
    // the name is in parentheses and may contain any character, so the fields follow the last parenthesis: state, parent
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return [{ pid, parent: Number(parent), commandLine }]
  } catch {
    return []
  }
}
