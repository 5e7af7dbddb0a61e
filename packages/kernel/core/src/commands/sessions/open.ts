import type { TerminalRequest } from '../../contract/executor.ts'
import { auditOf, connectionAudit } from '../command-audit.ts'
import { admit, defaultKillGrace, defaultOutputBytes, orEnd, startPlanned, type CommandDoor } from '../admission.ts'
import { narrowCommand } from '../command-options.ts'
import { virtualError } from '../../mount/errors.ts'
import { findMade } from '../judged-command.ts'
import { during, tellWatches } from '../../calls/context.ts'
import { checkMethod } from '../../calls/method-options.ts'
import type { Command } from '../../contract/workspace.ts'
import { startInTime } from '../start-in-time.ts'
import type { Ids } from './ids.ts'
import { LiveSession } from './session.ts'
import type { OpenSessionOptions, Session } from '../../contract/sessions.ts'

/** Opens a session. Runs the checks of `exec` in the same order. A further audit event follows when the session ends. */
export async function openSession(
  door: CommandDoor,
  sessions: Ids<Session>,
  options: OpenSessionOptions = {},
): Promise<Session> {
  checkMethod('openSession', 'openSession', options)
  const audit = auditOf(door, { operation: 'openSession', command: options.command ?? '', options })
  let id: string | undefined
  try {
    const reserved = sessions.reserve(options.id)
    id = reserved
    const killGrace = options.killGrace ?? defaultKillGrace
    const { timeout } = narrowCommand(door.context.commands, options)
    const limits = { operation: 'openSession', timeout, signal: options.signal }
    const start = async (left: () => number | undefined) => {
      const admitted = await admit(door, options.command, options, {
        operation: 'openSession',
        onAdmitted: audit.onAdmitted,
        background: true,
      })
      return orEnd(admitted, () => open(admitted, left))
    }
    const starting = (left: () => number | undefined) => during(door.context.state.starting, start(left))
    const open = async (
      admitted: Awaited<ReturnType<typeof admit<Command | undefined>>>,
      left: () => number | undefined,
    ) => {
      const { normalised, cwd, executor, narrowed, bare, cache } = admitted
      const { attached } = executor
      const openTerminal = attached.openTerminal?.bind(attached)
      if (openTerminal === undefined) throw noTerminals(executor.name)
      const run = await door.checkpoints.before('before a session')
      const shell = options.shell?.trim() === '' ? undefined : options.shell
      const connections = connectionAudit(door, cwd)
      const request: TerminalRequest = {
        command: normalised?.line,
        cwd,
        env: narrowed.env ?? {},
        cache,
        shell: shell ?? normalised?.shell,
        login: bare ? false : (narrowed.login ?? normalised?.login ?? true),
        bare,
        killGrace,
        limits: options.limits,
        signal: options.signal,
        columns: options.columns ?? 80,
        rows: options.rows ?? 24,
        onConnection: connections?.hear,
      }
      const terminal = await run.during(
        startPlanned(door, admitted, (plan) => openTerminal({ ...request, timeout: left() }, plan), 'openSession'),
      )
      return { terminal, admitted, connections }
    }
    const { terminal, admitted, connections } = await startInTime(limits, starting, (started) => started.terminal)
    const { normalised, narrowed } = admitted
    const session = new LiveSession({
      id: reserved,
      command: normalised?.line,
      startedAt: door.context.clock.now(),
      terminal,
      idleTimeout: options.idleTimeout,
      killGrace,
      maxOutputBytes: Math.max(1, narrowed.maxOutputBytes ?? defaultOutputBytes),
      judge: async () => {
        const made = await findMade({ ...admitted, ...door.context })
        await tellWatches(door.context.state)
        return made
      },
    })
    sessions.set(reserved, session)
    audit.done()
    const closing = auditOf(door, { operation: 'closeSession', command: normalised?.line ?? '', options })
    const forget = (): void => {
      sessions.delete(reserved)
      connections?.end()
      // the next flush repeats the work and reports the failure
      admitted.end?.().catch(() => undefined)
    }
    session.wait().then(
      ({ exitCode, signal, endedBy, survivors, violations }) => {
        forget()
        const timedOut = endedBy === 'timeout' || endedBy === 'idleTimeout'
        const stdoutBytes = session.outputBytes
        closing.done({ exitCode, signal, timedOut, survivors, stdoutBytes, stderrBytes: 0, violations })
      },
      (error: unknown) => {
        forget()
        void tellWatches(door.context.state)
        closing.failed(error, terminal.survivors)
      },
    )
    // The workspace may have been closed meanwhile.
    if (door.context.state.isClosed) await session.close()
    return session
  } catch (error) {
    if (id !== undefined) sessions.delete(id)
    audit.failed(error)
    throw error
  }
}

function noTerminals(executor: string): Error {
  return virtualError({
    code: 'ENOTSUP',
    operation: 'openSession',
    reason: `${executor} has no terminals`,
    remedy: 'use `exec` or `start`, or the bubblewrap or proot executor',
  })
}
