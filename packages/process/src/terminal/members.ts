import { sendSignal } from '../tree/end.ts'
import { listProcesses } from '../tree/stat.ts'

/**
 * Signals what a terminal would: the processes in its foreground. A hang-up goes to everything on it but the session's
 * leader, which sits it out.
 *
 * @param device the number of the slave's device (`st_rdev`); none but this session's processes have it
 * @returns false if no process got it
 */
export function signalTerminal(device: number, signal: NodeJS.Signals): boolean {
  const members = listProcesses().filter(({ terminal }) => terminal === device)
  if (signal === 'SIGHUP') {
    const others = members.filter(({ pid, session }) => pid !== session)
    return others.map(({ pid }) => sendSignal(pid, signal) && sendSignal(pid, 'SIGCONT')).some(Boolean)
  }
  const foreground = members[0]?.foreground ?? 0
  // 0 and -1 would mean this very group, and no process.
  return foreground > 1 && sendSignal(-foreground, signal)
}
