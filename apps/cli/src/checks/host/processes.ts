import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

interface Process {
  readonly pid: number
  readonly parent: number
  readonly commandLine: string
}

/** Processes on this machine whose command line holds a word, this one excepted. */
export async function processesWith(word: string): Promise<number[]> {
  const found = (await allProcesses()).filter(
    ({ pid, commandLine }) => pid !== process.pid && commandLine.includes(word),
  )
  return found.map(({ pid }) => pid)
}

/** Waits until no process has the word in its command line, or at least one has; gives those that are there then. */
export async function awaitProcesses(word: string, wanted: 'some' | 'none', limit: number): Promise<number[]> {
  const end = Date.now() + limit
  for (;;) {
    const pids = await processesWith(word)
    if (pids.length > 0 === (wanted === 'some') || Date.now() > end) return pids
    await sleep(20)
  }
}

/** The child of this process below which another process runs; undefined when that is not below this process. */
export async function childAbove(pid: number): Promise<number | undefined> {
  const parents = new Map((await allProcesses()).map((process) => [process.pid, process.parent]))
  for (let current: number | undefined = pid; current !== undefined && current > 1; current = parents.get(current)) {
    if (parents.get(current) === process.pid) return current
  }
  return undefined
}

async function allProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name))
  return (await Promise.all(pids.map((pid) => readProcess(Number(pid))))).filter((found) => found !== undefined)
}

/** Undefined for a process that has ended meanwhile. */
async function readProcess(pid: number): Promise<Process | undefined> {
  try {
    const [stat, commandLine] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ])
    // the name in parentheses may hold anything, so fields are counted from its end: state, parent
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid, parent: Number(parent), commandLine }
  } catch {
    return undefined
  }
}
