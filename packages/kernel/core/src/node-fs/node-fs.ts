import { collect } from '../adapter/base/stream.ts'
import { isWorkspaceError } from '../errors.ts'
import type { Workspace } from '../contract/workspace.ts'
import {
  constants,
  type ContentArgument,
  contentOf,
  type EncodingOptions,
  encodingOf,
  openModeOf,
  type PathArgument,
  pathOf,
  shaped,
  timeOf,
} from './arguments.ts'
import { Caller } from './caller.ts'
import { type CopyOptions, copyFile, copyTree } from './copying.ts'
import {
  makeDirectory,
  makeTemporaryDirectory,
  type MkdirOptions,
  readDirectory,
  type ReaddirOptions,
} from './directories.ts'
import { abortError, nodeError, systemError } from './errors.ts'
import { FileHandle } from './file-handle.ts'
import { type Dirent, Stats } from './stats.ts'

interface FileOptions extends EncodingOptions {
  readonly flag?: string | number | undefined
  readonly mode?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Makes a `node:fs/promises` of a workspace; its `promises` is the same object. Errors are Node's, with the workspace's error as `cause`.
 * Relative paths begin at the root. There are no file descriptors of the system and no synchronous functions.
 */
export function createNodeFs(workspace: Workspace): NodeFs {
  return new NodeFs(workspace)
}

export class NodeFs {
  readonly #workspace: Workspace
  readonly #caller: Caller
  readonly constants = constants
  readonly promises: this = this

  constructor(workspace: Workspace) {
    this.#workspace = workspace
    this.#caller = new Caller(workspace)
  }

  readFile = async (
    file: PathArgument | FileHandle,
    options?: FileOptions | string | null,
  ): Promise<string | Uint8Array> => {
    if (file instanceof FileHandle) return await file.readFile(options)
    const { signal } = optionsOf(options)
    const encoding = encodingOf(options)
    return await this.#caller.call('open', file, async (path) => {
      const { type } = await this.#caller.stat(path)
      if (type === 'directory') throw nodeError('EISDIR', { syscall: 'read' })
      const { bytes } = await aborting(signal, this.#workspace.read(path, { signal }))
      return shaped(bytes, encoding)
    })
  }

  writeFile = async (
    file: PathArgument | FileHandle,
    data: ContentArgument,
    options?: FileOptions | string | null,
  ): Promise<void> => {
    const { flag = 'w', mode, signal } = optionsOf(options)
    const content = contentOf(data, encodingOf(options))
    if (file instanceof FileHandle) return await file.writeFile(await collect(content))
    const { appends, exclusive } = openModeOf(flag)
    await this.#caller.call('open', file, async (path) => {
      const changing: Promise<unknown> = appends
        ? this.#workspace.append(path, content, { parents: false, signal })
        : this.#workspace.write(path, content, {
            ...{ parents: false, signal },
            ...(exclusive && { ifVersion: 'absent' as const }),
            ...(mode !== undefined && { mode: mode & 0o777 }),
          })
      await aborting(signal, exclusive ? existing(changing, path) : changing)
    })
  }

  appendFile = async (
    file: PathArgument | FileHandle,
    data: ContentArgument,
    options?: FileOptions | string | null,
  ): Promise<void> => {
    await this.writeFile(file, data, { ...optionsOf(options), encoding: encodingOf(options), flag: 'a' })
  }

  open = async (file: PathArgument, flags: string | number = 'r', mode?: number): Promise<FileHandle> => {
    const opened = openModeOf(flags)
    return await this.#caller.call('open', file, async (path, syscall) => {
      const there = await this.#caller.statIf(path)
      if (there !== undefined && opened.exclusive) throw nodeError('EEXIST', syscall)
      if (there?.type === 'directory' && opened.writes) throw nodeError('EISDIR', syscall)
      if (there === undefined && !opened.creates) throw nodeError('ENOENT', syscall)
      if (there === undefined || opened.truncates) {
        const bits = mode === undefined ? {} : { mode: mode & 0o777 }
        await this.#workspace.write(path, '', { parents: false, ...bits })
      } else if (there.type === 'file' && opened.reads) {
        await this.#workspace.read(path, { range: { offset: 0, length: 0 } })
      }
      return new FileHandle(this.#workspace, path, opened)
    })
  }

  readdir = async (
    directory: PathArgument,
    options?: ReaddirOptions | string | null,
  ): Promise<string[] | Uint8Array[] | Dirent[]> => await readDirectory(this.#caller, directory, options)

  stat = async (file: PathArgument): Promise<Stats> =>
    await this.#caller.call('stat', file, async (path) => new Stats(await this.#caller.stat(path)))

  lstat = async (file: PathArgument): Promise<Stats> =>
    await this.#caller.call('lstat', file, async (path) => new Stats(await this.#workspace.stat(path)))

  realpath = async (file: PathArgument): Promise<string> =>
    await this.#caller.call('realpath', file, async (path) => await this.#workspace.realPath(path))

  /** Treats rules as permissions. */
  access = async (file: PathArgument, mode: number = constants.F_OK): Promise<void> => {
    await this.#caller.call('access', file, async (path, syscall) => {
      const { mode: bits = 0o777, type } = await this.#caller.stat(path)
      for (const [bit, operation] of [
        [constants.R_OK, 'read'],
        [constants.W_OK, 'write'],
      ] as const) {
        if ((mode & bit) === 0) continue
        const { effect, code, reason } = await this.#workspace.explain({ operation, path })
        if (effect === 'deny') throw nodeError(code === 'EROFS' ? 'EROFS' : 'EACCES', syscall, reason)
      }
      if ((mode & constants.X_OK) !== 0 && type === 'file' && (bits & 0o111) === 0) throw nodeError('EACCES', syscall)
    })
  }

  mkdir = async (directory: PathArgument, options?: MkdirOptions | number | null): Promise<string | undefined> =>
    await makeDirectory(this.#caller, directory, options)

  mkdtemp = async (prefix: PathArgument): Promise<string> => await makeTemporaryDirectory(this.#caller, prefix)

  /** Rejects the first event: a workspace cannot be watched. */
  watch = (file: PathArgument): AsyncIterable<never> => {
    const path = pathOf(file, 'watch')
    const next = async () => await Promise.reject(nodeError('ENOSYS', { syscall: 'watch', path }))
    return { [Symbol.asyncIterator]: () => ({ next }) }
  }

  rmdir = async (directory: PathArgument): Promise<void> => {
    await this.#caller.call('rmdir', directory, async (path, syscall) => {
      const { type } = await this.#workspace.stat(path)
      if (type !== 'directory') throw nodeError('ENOTDIR', syscall)
      await this.#workspace.delete(path)
    })
  }

  unlink = async (file: PathArgument): Promise<void> => {
    await this.#caller.call('unlink', file, async (path, syscall) => {
      const { type } = await this.#workspace.stat(path)
      if (type === 'directory') throw nodeError('EISDIR', syscall)
      await this.#workspace.delete(path)
    })
  }

  rm = async (
    file: PathArgument,
    { recursive = false, force = false }: { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): Promise<void> => {
    await this.#caller.call('lstat', file, async (path) => {
      if (!recursive) {
        const found = await this.#workspace.stat(path).catch((error: unknown) => {
          if (force && isWorkspaceError(error, 'ENOENT')) return undefined
          throw error
        })
        if (found === undefined) return
        if (found.type === 'directory') throw systemError('ERR_FS_EISDIR', 'rm', path, 'is a directory')
      }
      await this.#workspace.delete(path, { recursive, force })
    })
  }

  rename = async (from: PathArgument, to: PathArgument): Promise<void> => {
    await this.#caller.callBoth('rename', from, to, async (source, destination) => {
      await this.#workspace.move(source, destination, { overwrite: true, parents: false })
    })
  }

  copyFile = async (from: PathArgument, to: PathArgument, mode = 0): Promise<void> => {
    await copyFile(this.#caller, from, to, mode)
  }

  cp = async (from: PathArgument, to: PathArgument, options: CopyOptions = {}): Promise<void> => {
    await copyTree(this.#caller, pathOf(from, 'cp'), pathOf(to, 'cp'), options)
  }

  symlink = async (target: PathArgument, path: PathArgument): Promise<void> => {
    await this.#caller.callBoth('symlink', target, path, async (to, at) => await this.#workspace.createSymlink(at, to))
  }

  readlink = async (file: PathArgument): Promise<string> =>
    await this.#caller.call('readlink', file, async (path) => await this.#workspace.readSymlink(path))

  chmod = async (file: PathArgument, mode: number): Promise<void> => {
    await this.#caller.call('chmod', file, async (path) => await this.#workspace.chmod(path, mode & 0o777))
  }

  utimes = async (
    file: PathArgument,
    _accessed: number | string | Date,
    modified: number | string | Date,
  ): Promise<void> => {
    const modifiedAt = timeOf(modified)
    await this.#caller.call('utime', file, async (path) => await this.#workspace.utimes(path, { modifiedAt }))
  }
}

function optionsOf(options: FileOptions | string | null | undefined): FileOptions {
  return typeof options === 'string' ? {} : (options ?? {})
}

async function aborting<Result>(signal: AbortSignal | undefined, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw signal?.aborted === true ? abortError(signal) : error
  }
}

/** Turns the conflict of `ifVersion: 'absent'` into Node's error for an existing entry. */
async function existing<Result>(work: Promise<Result>, path: string): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw isWorkspaceError(error, 'ECONFLICT') ? nodeError('EEXIST', { syscall: 'open', path }, error) : error
  }
}
