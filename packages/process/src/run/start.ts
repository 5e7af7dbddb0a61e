import type { RunningProcess, StartProcessOptions } from './types.ts'

/**
 * Starts a process in a session and group of its own and watches it to the end of its tree.
 *
 * @throws WorkspaceError `EINVAL` for an argument that has no meaning; `signal.reason` if already aborted. Whether the
 * program could be started is told by {@link RunningProcess.wait}.
 */
export function startProcess(_options: StartProcessOptions): RunningProcess {
  throw new Error('not written yet')
}
