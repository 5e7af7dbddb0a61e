import { isWorkspaceError, type Workspace, WorkspaceError } from '@ws/core'
import { checkOptions, hasMethods, option, type OptionShapes } from '@ws/core/options'
import type { IFileSystem } from 'just-bash'

import { outsideOfScripts } from './outside.ts'
import { BashFileSystem } from './system.ts'
import { WorkspaceFiles, type WorkspaceFilesOptions } from './workspace.ts'

export type BashFileSystemOptions = Omit<WorkspaceFilesOptions, 'passable'>

const shapes: OptionShapes<BashFileSystemOptions> = { signal: option.signal, maxFileBytes: option.integer(1) }

/**
 * A workspace's files for your own just-bash: `new Bash({ fs: createBashFileSystem(workspace), cwd })`.
 * Every access is an operation of the workspace, with its rules, links, aliases and audit. Errors are as in Node's `fs` (`EACCES:
 * permission denied, open '/x'`).
 * Call this function outside of scripts: just-bash then does not block the timers and sockets of a store.
 * The system's names (`/bin`, `/dev` …) exist in memory only. A listing of `/` omits these names.
 * Modes and times are set if the store keeps them. Hard links are `ENOTSUP`; a file above `maxFileBytes` is `EFBIG`.
 * `writeFile` makes no missing directories, like redirections in bash.
 * `createVirtualExecutor` runs the interpreter in a worker, where a loop does not block the caller.
 * @throws WorkspaceError `EINVAL` if `workspace` is not a workspace or an option is not valid
 */
export function createBashFileSystem(workspace: Workspace, options: BashFileSystemOptions = {}): IFileSystem {
  checkOptions<BashFileSystemOptions>(options, shapes, { operation: 'createBashFileSystem' })
  checkWorkspace(workspace)
  const door = outsideOfScripts(workspace)
  const { signal } = options
  const files = new BashFileSystem(new WorkspaceFiles(door, options))
  const { chmod, utimes } = { chmod: files.chmod.bind(files), utimes: files.utimes.bind(files) }
  return Object.assign(files, {
    chmod: (path: string, mode: number) =>
      orElse(
        'chmod',
        path,
        // the mode of a `stat` also contains the type of the entry
        () => door.chmod(path, mode & 0o7777, { signal }),
        () => chmod(path, mode & 0o7777),
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

function checkWorkspace(given: unknown): void {
  if (hasMethods(given, 'read', 'write', 'exec', 'explain')) return
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'createBashFileSystem',
    reason: 'the workspace must be one that `createWorkspace` made',
    remedy: 'pass the result of `createWorkspace` of @ws/core',
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

/** Runs `work`. For system names, and for stores without modes or times, runs `otherwise`, the executor's own method. */
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
