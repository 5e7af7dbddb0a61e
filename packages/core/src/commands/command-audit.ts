import { isWorkspaceError } from '../errors.ts'
import type { CommandResult, ConnectionReport } from '../executor/contract.ts'
import { getCommandResult } from '../executor/killed.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { outcomeOf } from '../calls/audit.ts'
import type { Context } from '../calls/context.ts'
import type { CommandDoor } from './commands.ts'
import type { AccessEvent, Command, ExecOptions } from '../workspace/types.ts'

/** The end of a command or a session, as far as its event reports it. */
export type CommandEnd = Pick<
  CommandResult,
  'exitCode' | 'signal' | 'timedOut' | 'survivors' | 'stdoutBytes' | 'stderrBytes' | 'violations'
>

interface CommandAuditOptions {
  readonly operation: 'exec' | 'openSession' | 'closeSession'
  readonly command: Command
  readonly options: Pick<ExecOptions, 'cwd' | 'signal' | 'acknowledge'>
}

/** The one audit event of an operation at the door of commands. */
export function auditOf({ context, executor }: CommandDoor, { operation, command, options }: CommandAuditOptions) {
  const { cwd, signal, acknowledge } = options
  const time = Date.now()
  const start = performance.now()
  let line: string | undefined
  let landed: VirtualPath | undefined
  const record = (error: unknown, end: CommandEnd | undefined, survivors = end?.survivors): void => {
    if (!context.audit.active) return
    const ended = outcomeOf('exec', error, signal)
    const path = typeof cwd === 'string' ? cwd : context.root
    // A rule that cannot be enforced has a path of its own, which says nothing of the working directory.
    const refused = ended.outcome === 'denied' && ended.code !== 'EUNENFORCEABLE' && isWorkspaceError(error)
    const resolved = refused ? (error.path as VirtualPath | undefined) : landed
    context.audit.record({
      time,
      door: 'exec',
      operation,
      path,
      resolvedPath: resolved === path ? undefined : resolved,
      ...ended,
      duration: performance.now() - start,
      // In the form that the policy judged; a command that could not be read is not shown.
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
    /** @param end absent for what has only begun */
    done(end?: CommandEnd): void {
      record(undefined, end)
    },
    /** @param survivors of a command that was aborted */
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

/** Tells the audit of each connection of a command, and of each refusal, as it is over. */
export function connectionAudit(
  { context, executor }: CommandDoor,
  path: string,
): ((report: ConnectionReport) => void) | undefined {
  if (executor?.attached.guarantees.network !== 'names') return undefined
  return (report) => recordConnection(context, report, { door: 'exec', path, executor: executor.name })
}

/** The audit event of one connection, or of one refusal. */
export function recordConnection(
  { audit }: Pick<Context, 'audit'>,
  { host, port, entry, outcome, rule = 'network', reason, time, duration, sentBytes, receivedBytes }: ConnectionReport,
  by: Pick<AccessEvent, 'door' | 'path' | 'executor'>,
): void {
  if (!audit.active) return
  audit.record({
    ...by,
    time,
    operation: 'connect',
    outcome,
    ...(outcome !== 'allowed' && { code: outcome === 'denied' ? 'EACCES' : 'EBACKEND', rule }),
    duration,
    connection: { host, port, entry, reason, sentBytes, receivedBytes },
  })
}
