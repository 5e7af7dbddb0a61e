import type { TerminalRequest } from '../../executor/contract.ts'
import { checkCount } from '../arguments.ts'
import { auditOf } from '../command-audit.ts'
import { admit, defaultKillGrace, defaultOutputBytes } from '../commands.ts'
import type { CommandDoor } from '../commands.ts'
import { virtualError } from '../errors.ts'
import type { Ids } from './ids.ts'
import { LiveSession } from './session.ts'
import type { OpenSessionOptions, Session } from './types.ts'

const longestTimeout = 2 ** 31 - 1
const longestSide = 65_535

/** Opens a session: the checks of `exec`, in the same order, and one audit event more when it ends. */
export async function openSession(
  door: CommandDoor,
  sessions: Ids<Session>,
  options: OpenSessionOptions = {},
): Promise<Session> {
  const audit = auditOf(door, { operation: 'openSession', command: options.command ?? '', options })
  let id: string | undefined
  try {
    checkSize(options)
    const reserved = sessions.reserve(options.id)
    id = reserved
    const { normalised, cwd, plan, executor, narrowed, bare } = await admit(door, options.command, options, {
      operation: 'openSession',
      onAdmitted: audit.onAdmitted,
    })
    if (executor.attached.openTerminal === undefined) throw noTerminals(executor.name)
    const shell = options.shell?.trim() === '' ? undefined : options.shell
    const killGrace = options.killGrace ?? defaultKillGrace
    const request: TerminalRequest = {
      command: normalised?.line,
      cwd,
      env: narrowed.env ?? {},
      shell: shell ?? normalised?.shell,
      login: bare ? false : (narrowed.login ?? normalised?.login ?? true),
      bare,
      timeout: narrowed.timeout,
      killGrace,
      limits: options.limits,
      signal: options.signal,
      columns: options.columns ?? 80,
      rows: options.rows ?? 24,
    }
    const terminal = await executor.attached.openTerminal(request, plan)
    const session = new LiveSession({
      id: reserved,
      command: normalised?.line,
      terminal,
      idleTimeout: options.idleTimeout,
      killGrace,
      maxOutputBytes: Math.max(1, narrowed.maxOutputBytes ?? defaultOutputBytes),
    })
    sessions.set(reserved, session)
    audit.done()
    const closing = auditOf(door, { operation: 'closeSession', command: normalised?.line ?? '', options })
    const forget = (): void => sessions.delete(reserved)
    session.wait().then(
      ({ exitCode, signal, endedBy }) => {
        forget()
        const timedOut = endedBy === 'timeout' || endedBy === 'idleTimeout'
        closing.done({ exitCode, signal, timedOut, stdoutBytes: session.outputBytes, stderrBytes: 0 })
      },
      (error: unknown) => {
        forget()
        closing.failed(error)
      },
    )
    // The workspace may have been closed while this was on its way.
    if (door.context.isClosed()) await session.close()
    return session
  } catch (error) {
    if (id !== undefined) sessions.delete(id)
    audit.failed(error)
    throw error
  }
}

function checkSize({ columns, rows, idleTimeout, maxOutputBytes }: OpenSessionOptions): void {
  for (const [name, value] of Object.entries({ columns, rows })) {
    if (value === undefined) continue
    checkCount(name, value, 1)
    if (value > longestSide) checkCount(name, Number.NaN, 1)
  }
  if (idleTimeout !== undefined) {
    checkCount('idleTimeout', idleTimeout, 1)
    if (idleTimeout > longestTimeout) checkCount('idleTimeout', Number.NaN, 1)
  }
  if (maxOutputBytes !== undefined) checkCount('maxOutputBytes', maxOutputBytes, 1)
}

function noTerminals(executor: string): Error {
  return virtualError({
    code: 'ENOTSUP',
    operation: 'openSession',
    reason: `${executor} has no terminals`,
    remedy: 'use `exec` or `start`, or the bubblewrap or proot executor',
  })
}
