import { WorkspaceError } from '@ws/core'
import type { CustomCommand, IFileSystem } from 'just-bash'

import { BashFileSystem } from './files/system.ts'
import { separateCommands } from './worker/commands.ts'
import { Session } from './worker/state/session.ts'

export { type BashFileSystemOptions, createBashFileSystem } from './files/create.ts'

/**
 * The commands of the virtual executor (`awk`, `sed`, `find`, `grep`, `sort` and 40 others) for a just-bash of your own:
 * `new Bash({ fs, cwd, customCommands: createBashCommands(fs) })`.
 *
 * They give what the real ones give, byte for byte, in the forms that were compared. Another form has exit code 126, and
 * `stderr` says what to use instead. `bash`, `sh`, `env`, `timeout` and `sleep` stay just-bash's own.
 *
 * @param fs the file system that `Bash` gets: one of {@link createBashFileSystem}
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
