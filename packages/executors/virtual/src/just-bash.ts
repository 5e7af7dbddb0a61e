import { WorkspaceError } from '@ws/core'
import type { CustomCommand, IFileSystem } from 'just-bash'

import { BashFileSystem } from './files/system.ts'
import { separateCommands } from './worker/commands.ts'
import { Session } from './worker/state/session.ts'

export { createBashFileSystem } from './files/create.ts'

/**
 * The virtual executor's commands (`awk`, `sed`, `find`, …) for your own just-bash: `new Bash({ fs, cwd, customCommands:
 * createBashCommands(fs) })`.
 * In the compared forms, the output equals the real output byte for byte. Other forms end with 126; `stderr` suggests another way.
 * `bash`, `sh`, `env`, `timeout` and `sleep` remain just-bash's own commands.
 * @param fs the file system of `Bash`, made by {@link createBashFileSystem}
 * @throws WorkspaceError `EINVAL` for another file system
 */
export function createBashCommands(fs: IFileSystem): CustomCommand[] {
  if (!(fs instanceof BashFileSystem)) {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'createBashCommands',
      reason: 'the file system is not one of a workspace',
      remedy: 'pass the one that `createBashFileSystem(workspace)` made, and give `Bash` the same',
    })
  }
  return separateCommands(() => Session.alone(fs), fs)
}
