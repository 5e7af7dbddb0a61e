import type { FileDoor } from '@ws/core'
import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import type { IFileSystem } from 'just-bash'

import { BashFileSystem } from './system.ts'
import { WorkspaceFiles, type WorkspaceFilesOptions } from './workspace.ts'

const shapes: OptionShapes<WorkspaceFilesOptions> = {
  signal: option.signal,
  maxFileBytes: option.integer(1),
  passable: option.of('a `Set` of paths', (value) => value instanceof Set),
}

/**
 * A workspace's files as a file system for just-bash: `new Bash({ fs: createBashFileSystem(workspace), cwd, env })`.
 *
 * Every access is a workspace operation, so rules, read-only mounts, links, aliases and the audit hold by themselves.
 * Errors are as Node's `fs` throws them (`EACCES: permission denied, open '/x'`). The system's names (`/bin`, `/dev` …)
 * are made up, in memory, and `/` does not list them. Hard links are `ENOTSUP`, and so is changing a mode, or a time to
 * another than now; a file above `maxFileBytes` is `EFBIG`.
 *
 * `createVirtualExecutor` runs the interpreter in a worker, where a loop does not block the caller.
 */
export function createBashFileSystem(files: FileDoor, options: WorkspaceFilesOptions = {}): IFileSystem {
  checkOptions<WorkspaceFilesOptions>(options, shapes, { operation: 'createBashFileSystem' })
  return new BashFileSystem(new WorkspaceFiles(files, options))
}
