import { readdirSync, readFileSync } from 'node:fs'

/** The identity of a process for as long as the machine runs: its id and when it was started. */
export interface ProcessIdentity {
  readonly pid: number
  readonly startTime: string
}

/** All processes that `pid` has started, and those that they have. */
export function descendants(pid: number): ProcessIdentity[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => readStat(Number(name)) ?? [])
  const below = (parent: number): ProcessIdentity[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)])
  return below(pid)
}

/** True until the process has ended, even if its exit status was not collected yet. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  const now = readStat(pid)
  return now !== undefined && now.startTime === startTime && now.state !== 'Z'
}

function readStat(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the name, in parentheses, may hold anything
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state = '', parent = ''] = fields
    return { pid, state, parent: Number(parent), startTime: fields[19] ?? '' }
  } catch {
    return undefined
  }
}
