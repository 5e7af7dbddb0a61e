import type { Owner } from '@ws/core/adapter'

import { startProcess } from '../run/start.ts'
import type { ProcessResult, RunningProcess, StartProcessOptions } from '../run/types.ts'
import type { CommandEnd, CommandPort, CommandRun, PreparedCommand } from './driver.ts'

/** A command as a process of this machine. The default if the driver has no `start`. */
export interface LocalCommand extends PreparedCommand {
  readonly process: Omit<StartProcessOptions, 'timeout' | 'signal' | 'uid' | 'gid'>
  /** As root: the user that the process becomes. */
  readonly owner?: Owner | undefined
  /** Called at the start. The returned function reads the command's end from the pipes. Default: uses the end of the process. */
  readonly readEnd?: ((running: RunningProcess) => (ended: ProcessResult) => CommandEnd) | undefined
}

/** Starts a command as a process of this machine. When the process ends, its whole tree is killed. */
export function startLocal(
  { process: options, owner, readEnd = () => ownEnd }: LocalCommand,
  { request, hasInput, onStdout, onStderr }: CommandRun,
): CommandPort & { readonly running: RunningProcess } {
  const running = startProcess({
    stdin: hasInput ? 'pipe' : 'none',
    killGrace: request.killGrace,
    drainGrace: 0,
    maxOutputBytes: 0,
    onStdout,
    onStderr,
    ...options,
    ...(process.getuid?.() === 0 ? owner : {}),
  })
  const endOf = readEnd(running)
  return {
    running,
    stdin: running.stdin,
    signal(name, whom) {
      if (whom === 'command') return running.kill(name)
      running.askToEnd()
      return true
    },
    end: () => void running.kill('SIGKILL'),
    exited: running.wait().then((ended) => ({ ...endOf(ended), survivors: ended.survivors })),
    get survivors() {
      return running.survivors
    },
  }
}

/** Returns how the process itself ended. A kill order (SIGPWR) also ends a supervisor that is not ready yet. */
function ownEnd({ exitCode, signal }: ProcessResult): CommandEnd {
  return exitCode === null ? { signal: signal === 'SIGPWR' ? 'SIGKILL' : (signal ?? 'SIGKILL') } : { status: exitCode }
}
