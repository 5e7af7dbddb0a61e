import { readdirSync, readFileSync } from 'node:fs'
import { sendSignal } from '../tree/end.ts'

/**
 * Signals what a terminal would: the processes in its foreground. A hang-up goes to everything on it but the session's
 * leader, which sits it out.
 *
 * @param device the number of the slave's device (`st_rdev`); none but this session's processes have it
 * @returns false if nobody got it
 */
export function signalTerminal(device: number, signal: NodeJS.Signals): boolean {
  const members = onTerminal(device)
  if (signal === 'SIGHUP') {
    const others = members.filter(({ pid, session }) => pid !== session)
    return others.map(({ pid }) => sendSignal(pid, signal) && sendSignal(pid, 'SIGCONT')).some(Boolean)
  }
  const foreground = members[0]?.foreground ?? 0
  // 0 and -1 would mean this very group, and nobody.
  return foreground > 1 && sendSignal(-foreground, signal)
}

interface Member {
  readonly pid: number
  readonly session: number
  readonly foreground: number
}

function onTerminal(device: number): Member[] {
  const members: Member[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const line = readFileSync(`/proc/${name}/stat`, 'latin1')
      const [, , , session, terminal, foreground] = line
        .slice(line.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      if (terminal === device) members.push({ pid: Number(name), session: session ?? 0, foreground: foreground ?? 0 })
    } catch {
      // It ended in between.
    }
  }
  return members
}
