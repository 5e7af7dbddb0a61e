import type { ConnectionReport } from '../executor/contract.ts'
import type { CommandDoor } from './commands.ts'

/** Tells the audit of each connection of a command, and of each refusal, as it is over. */
export function connectionAudit(
  { context, executor }: CommandDoor,
  path: string,
): ((report: ConnectionReport) => void) | undefined {
  if (executor?.attached.guarantees.network !== 'names') return undefined
  return ({ host, port, entry, outcome, rule = 'network', reason, time, duration, sentBytes, receivedBytes }) => {
    if (!context.audit.active) return
    context.audit.record({
      time,
      door: 'exec',
      operation: 'connect',
      path,
      outcome,
      ...(outcome !== 'allowed' && { code: outcome === 'denied' ? 'EACCES' : 'EBACKEND', rule }),
      duration,
      executor: executor.name,
      connection: { host, port, entry, reason, sentBytes, receivedBytes },
    })
  }
}
