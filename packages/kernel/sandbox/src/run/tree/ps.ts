import { spawnSync } from 'node:child_process'

import type { ProcessStat } from './stat.ts'

const columns = ['pid', 'ppid', 'pgid', 'stat', 'lstart', 'ucomm'].flatMap((name) => ['-o', `${name}=`])

/** Returns processes as `ps` lists them, for systems without `/proc`. No session and no terminal is known. @param pid absent: all */
export function askPs(pid?: number): ProcessStat[] {
  const which = pid === undefined ? ['-ax'] : ['-p', String(pid)]
  const { stdout } = spawnSync('/bin/ps', [...which, ...columns], {
    env: { LC_ALL: 'C', TZ: 'UTC' },
    encoding: 'latin1',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return (stdout ?? '').split('\n').flatMap(parseLine)
}

/** A line: three numbers, the state, the five words of the start time, and the name. */
function parseLine(line: string): ProcessStat[] {
  const [, pid, parent, group, state = '', start = '', name = ''] =
    /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\d{4})\s+(.*?)\s*$/.exec(line) ?? []
  if (pid === undefined) return []
  return [
    {
      ...{ pid: Number(pid), parent: Number(parent), group: Number(group), name },
      ...{ session: 0, terminal: 0, foreground: 0 },
      startTime: String(Date.parse(`${start} UTC`)),
      zombie: state.startsWith('Z'),
    },
  ]
}
