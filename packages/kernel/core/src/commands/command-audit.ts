import { isWorkspaceError } from '../errors.ts'
import type { CommandResult, ConnectionReport } from '../contract/executor.ts'
import { getCommandResult } from '../executor/killed.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { outcomeOf } from '../calls/audit.ts'
import type { Context } from '../calls/context.ts'
import type { CommandDoor } from './admission.ts'
import type { AccessEvent, Command, ExecOptions } from '../contract/workspace.ts'

export type CommandEnd = Pick<
  CommandResult,
  'exitCode' | 'signal' | 'timedOut' | 'survivors' | 'stdoutBytes' | 'stderrBytes' | 'violations'
>

interface CommandAuditOptions {
  readonly operation: 'exec' | 'openSession' | 'closeSession'
  readonly command: Command
  readonly options: Pick<ExecOptions, 'cwd' | 'signal' | 'acknowledge'>
}

export function auditOf({ context, executor }: CommandDoor, { operation, command, options }: CommandAuditOptions) {
  const { cwd, signal, acknowledge } = options
  const began = context.clock.begin()
  let line: string | undefined
  let landed: VirtualPath | undefined
  const record = (error: unknown, end: CommandEnd | undefined, survivors = end?.survivors): void => {
    if (!context.audit.active) return
    const ended = outcomeOf('exec', error, signal)
    const path = typeof cwd === 'string' ? cwd : context.root
    // The error of a rule that cannot be enforced has the rule's path, which is unrelated to the working directory.
    const refused = ended.outcome === 'denied' && ended.code !== 'EUNENFORCEABLE' && isWorkspaceError(error)
    const resolved = refused ? (error.path as VirtualPath | undefined) : landed
    context.audit.record({
      time: began.time,
      door: 'exec',
      operation,
      path,
      resolvedPath: resolved === path ? undefined : resolved,
      ...ended,
      duration: context.clock.since(began),
      // The form that the policy evaluated. Empty for a command that could not be parsed.
      command: line ?? (typeof command === 'string' ? command : ''),
      executor: executor?.name,
      acknowledged: namesOf(acknowledge),
      ...(end !== undefined && pickEnd(end)),
      ...(survivors && { survivors }),
    })
  }
  return {
    onAdmitted(normalised: string, at?: VirtualPath): void {
      line = normalised
      landed = at
    },
    done(end?: CommandEnd): void {
      record(undefined, end)
    },
    /** @param survivors true if an aborted command has left processes */
    failed(error: unknown, survivors = false): void {
      record(error, getCommandResult(error), survivors ? true : undefined)
    },
  }
}

function namesOf(acknowledge: unknown): AccessEvent['acknowledged'] {
  const names = Array.isArray(acknowledge) ? acknowledge.filter((name) => typeof name === 'string') : []
  return names.length > 0 ? names : undefined
}

function pickEnd({ exitCode, signal, timedOut, stdoutBytes, stderrBytes, violations }: CommandEnd): CommandEnd {
  return { exitCode, signal, timedOut, stdoutBytes, stderrBytes, ...(violations && { violations }) }
}

/** Maximum number of events for one command's connections. A command can cause a thousand refusals a second at no cost. */
const mostEvents = { allowed: 10_000, denied: 1_000, failed: 1_000 } as const

/** Audits the connections of one command. The last events give the number of connections above the limit. */
export interface ConnectionAudit {
  hear(this: void, report: ConnectionReport): void
  end(): void
}

export function connectionAudit({ context, executor }: CommandDoor, path: string): ConnectionAudit | undefined {
  if (executor?.attached.guarantees.network !== 'names') return undefined
  const by = { door: 'exec', path, executor: executor.name } as const
  const told = { allowed: 0, denied: 0, failed: 0 }
  const rest = new Map<string, ConnectionReport & { readonly leftOut: number }>()
  return {
    hear(report) {
      const { outcome, time, sentBytes, receivedBytes } = report
      told[outcome] += 1
      if (told[outcome] <= mostEvents[outcome]) return recordConnection(context, report, by) // @defence `if (…) ` a command that floods the audit with refused: one event with their number
      const { sentBytes: sent = 0, receivedBytes: received = 0, leftOut = 0 } = rest.get(outcome) ?? {}
      const bytes = { sentBytes: sent + sentBytes, receivedBytes: received + receivedBytes }
      rest.set(outcome, { host: '*', outcome, time, duration: 0, ...bytes, leftOut: leftOut + 1 })
    },
    end() {
      for (const report of rest.values()) recordConnection(context, report, by)
      rest.clear()
    },
  }
}

/** Audits a connection, a refusal, or the number of connections above the limit. */
export function recordConnection(
  { audit, root, attempt }: Pick<Context, 'audit' | 'root' | 'attempt'>,
  report: ConnectionReport & { readonly leftOut?: number },
  by: Pick<AccessEvent, 'door' | 'path' | 'executor'>,
): void {
  if (attempt !== undefined && attempt.connections.length < mostEvents.denied) attempt.connections.push(report)
  if (!audit.active) return
  const { outcome, rule = 'network', time, duration, ...connection } = report
  const { host, port, entry, reason, sentBytes, receivedBytes, leftOut, shared } = connection
  const rest = { ...(leftOut !== undefined && { leftOut }), ...(shared && { shared }) }
  audit.record({
    ...by,
    ...(shared && { path: root }),
    time,
    operation: 'connect',
    outcome,
    ...(outcome !== 'allowed' && { code: outcome === 'denied' ? 'EACCES' : 'EBACKEND', rule }),
    duration,
    connection: { host, port, entry, reason, sentBytes, receivedBytes, ...rest },
  })
}
