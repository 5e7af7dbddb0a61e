import { isWorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { createBashFileSystem } from '@ws/executor-virtual/just-bash'
import type { WorkspaceFilesOptions } from '@ws/executor-virtual/just-bash'
import { checkFramework, checkWorkspace } from '@ws/tools/bridge'
import type { IFileSystem } from 'just-bash'

import { outsideOfScripts } from './outside.ts'

export type FileSystemOptions = Omit<WorkspaceFilesOptions, 'passable'>

/**
 * Makes the file system of a `Bash` of your own: `new Bash({ fs: createFileSystem(workspace), cwd: workspace.root })`.
 *
 * It is the file system of the virtual executor, and besides it sets modes and times where the store keeps them. Make it
 * outside of a script: its work does not count as the script's own, so stores in other places work under just-bash's watch.
 * Hard links are `ENOTSUP`. `writeFile` makes no missing directories, unlike just-bash's own: redirections go through it, and
 * in bash they make none. Errors are as Node's `fs` throws them.
 *
 * @throws WorkspaceError `EINVAL` where `workspace` is not a workspace or an option is not valid; `ENOTSUP` for a version of
 * just-bash that is not supported
 */
export function createFileSystem(workspace: Workspace, options: FileSystemOptions = {}): IFileSystem {
  checkFramework('createFileSystem', { name: 'just-bash', from: '3.4.2', importer: import.meta.url })
  checkWorkspace(workspace, 'createFileSystem')
  const door = outsideOfScripts(workspace)
  const { signal } = options
  const files = createBashFileSystem(door, options)
  const { chmod, utimes } = { chmod: files.chmod.bind(files), utimes: files.utimes.bind(files) }
  return Object.assign(files, {
    chmod: (path: string, mode: number) =>
      orElse(
        'chmod',
        path,
        () => door.chmod(path, mode, { signal }),
        () => chmod(path, mode),
      ),
    utimes: (path: string, accessed: Date, modified: Date) =>
      orElse(
        'utime',
        path,
        () => door.utimes(path, { modifiedAt: modified.getTime() }, { signal }),
        () => utimes(path, accessed, modified),
      ),
  })
}

const wordsOf: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EROFS: 'read-only file system',
  EINVAL: 'invalid argument',
  ELOOP: 'too many levels of symbolic links',
  ENOTDIR: 'not a directory',
  ENAMETOOLONG: 'file name too long',
}

/** Where the store keeps no modes or times, and for the system's names, the file system of the executor answers. */
async function orElse(
  call: string,
  path: string,
  work: () => Promise<void>,
  otherwise: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isWorkspaceError(error) || error.code === 'ENOTSUP' || error.code === 'ENOENT') return otherwise()
    const code = error.code in wordsOf ? error.code : 'EACCES'
    const words = wordsOf[code]
    throw Object.assign(new Error(`${code}: ${words}, ${call} '${path}'`), { code })
  }
}
