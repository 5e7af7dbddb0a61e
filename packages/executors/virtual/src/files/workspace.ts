import { childOf, codeOf, FileError, nameOf, parentOf, withoutSlash } from '@ws/shell-tools/files'
import { type FileDoor, type FileType, isWorkspaceError, type Stat } from '@ws/core'
import type { WorkspaceView } from '@ws/core/executor'
import type { ByteString, CpOptions, FileContent, FsStat, MkdirOptions, RmOptions } from 'just-bash'

import type { Facts, ListedEntry } from '@ws/shell-tools'
import type { DirentEntry, WorkspaceAsyncFiles } from './contract.ts'
import { listDirectory, reachable } from './directory.ts'
import { asBinary, decode, encode, type EncodingOption } from './encoding.ts'
import { allows, toFsStat, mayRead, mayWrite, shellCodes } from './describe.ts'
import { systemNames } from './system-names.ts'

export interface WorkspaceFilesOptions {
  readonly signal?: AbortSignal | undefined
  /** Limit of bytes of a file to read, since the interpreter keeps whole files in memory. Larger files are `EFBIG`. Default 64 MiB. */
  readonly maxFileBytes?: number | undefined
  /** Denied directories around an allowed part. Commands can pass through these directories, which have the mode 111. */
  readonly passable?: ReadonlySet<string> | undefined
}

interface ChangeOptions {
  /** Finds top-level entries. Default: by the file API. */
  readonly topEntries?: WorkspaceView['topEntries']
  /** Aborts running changes. Aborts later than `signal`, because a store may complete an aborted change. Default: `signal`. */
  readonly changeSignal?: AbortSignal | undefined
}

const mostLinks = 40
/** Taken before a script runs: during one, just-bash refuses `performance` to this thread. */
const now = performance.now.bind(performance)
/** Milliseconds for which a write relies on the lookup before it. */
const lookedFor = 2_000
/** A time that differs from now by at most this many milliseconds counts as that of `touch` without a date. */
const nowIsh = 10_000

export class WorkspaceFiles implements WorkspaceAsyncFiles {
  readonly #door: FileDoor
  readonly #maxFileBytes: number
  readonly #passable: ReadonlySet<string>
  readonly #topEntries: WorkspaceView['topEntries']
  /** The system names that the workspace has. Dropped when the script changes an entry. */
  #taken: Promise<readonly string[]> | undefined
  /** Directories that the script has listed or made. Dropped when the script removes or moves an entry. */
  readonly #directories = new Set<string>()
  /** The last path that was looked up or written. A redirection looks the file up, empties it, then writes. */
  #latest: { readonly path: string; readonly found: Stat | undefined; readonly at: number } | undefined
  readonly #signal: { readonly signal?: AbortSignal | undefined }
  /** Paths of entries that listings omitted, because no path can name these entries. */
  readonly leftOut = new Set<string>()
  readonly #changeSignal: AbortSignal | undefined

  constructor(door: FileDoor, options: WorkspaceFilesOptions & ChangeOptions = {}) {
    const { signal, changeSignal = signal, maxFileBytes = 64 * 1024 * 1024, passable = new Set() } = options
    this.#door = door
    this.#passable = passable
    this.#topEntries = options.topEntries
    this.#maxFileBytes = maxFileBytes
    this.#signal = { signal }
    this.#changeSignal = changeSignal
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const { bytes, stat } = await this.#ask('open', path, () =>
      this.#door.read(path, { ...this.#signal, range: { offset: 0, length: this.#maxFileBytes } }),
    )
    if (stat.size > bytes.length) throw new FileError('EFBIG', 'read', path)
    if (!allows(stat, mayRead)) throw new FileError('EACCES', 'open', path)
    return bytes
  }

  async readFile(path: string, options?: EncodingOption): Promise<string> {
    return decode(await this.readFileBuffer(path), options)
  }

  async readFileBytes(path: string): Promise<ByteString> {
    return asBinary(await this.readFileBuffer(path))
  }

  async writeFile(path: string, content: FileContent, options?: EncodingOption): Promise<void> {
    const bytes = encode(content, options)
    await this.#write(path, (signal) => this.#door.write(path, bytes, { signal, parents: false }))
  }

  async appendFile(path: string, content: FileContent, options?: EncodingOption): Promise<void> {
    const bytes = encode(content, options)
    await this.#write(path, (signal) => this.#door.append(path, bytes, { signal, parents: false }))
  }

  /** Checks the mode before a write. A store may let the owner of a file ignore the mode; a command must not. */
  async #write(path: string, write: (signal?: AbortSignal) => Promise<unknown>): Promise<void> {
    const at = withoutSlash(path)
    const latest = this.#latest
    const isFresh = latest?.path === at && now() - latest.at < lookedFor
    const found = isFresh ? latest.found : await this.#door.stat(at, this.#signal).catch(() => undefined)
    if (found?.type === 'file' && !allows(found, mayWrite)) throw new FileError('EACCES', 'open', path)
    if (found === undefined) await this.#checkAbove(path, 'open', path)
    await this.#change('open', path, write)
    this.#note(at, found ?? { type: 'file', size: 0, version: '' })
  }

  #note(path: string, found: Stat | undefined): void {
    this.#latest = { path, found, at: now() }
  }

  /** Refuses an entry below a file. A store of objects would accept such an entry, which would then hide the file. */
  async #checkAbove(at: string, call: string, path: string): Promise<void> {
    const above = parentOf(withoutSlash(at))
    if (above === '/' || this.#passable.has(above) || this.#directories.has(above)) return
    const found = await this.stat(above).catch(() => undefined)
    if (found === undefined) return this.#checkAbove(above, call, path)
    if (!found.isDirectory) throw new FileError('ENOTDIR', call, path)
    this.#directories.add(above)
  }

  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path)
      return true
    } catch {
      return false
    }
  }

  async lstat(path: string): Promise<FsStat> {
    if (path !== '/' && path.endsWith('/')) {
      // A trailing slash requires a directory, also behind a link, as in the kernel.
      const found = await this.stat(withoutSlash(path))
      if (!found.isDirectory) throw new FileError('ENOTDIR', 'lstat', path)
      return found
    }
    try {
      const stat = await this.#ask('lstat', path, () => this.#door.stat(path, this.#signal))
      if (stat.type === 'directory') this.#directories.add(path)
      this.#note(path, stat)
      return toFsStat(stat)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') this.#note(path, undefined)
      if (codeOf(error) !== 'EACCES') throw error
      if (this.#passable.has(path)) return toFsStat({ type: 'directory', size: 0, mode: 0o111, version: '' })
      const type = await this.#listedType(path)
      if (type === undefined) throw error
      // Describes a denied entry with mode 000: only the type is known.
      return toFsStat({ type, size: 0, mode: 0, version: '' })
    }
  }

  async stat(path: string): Promise<FsStat> {
    const found = await this.lstat(path)
    return found.isSymbolicLink ? this.lstat(await this.realpath(path)) : found
  }

  async realpath(path: string): Promise<string> {
    if (path === '/') return path
    if (!path.includes('..')) {
      try {
        return await this.#door.realPath(withoutSlash(path), this.#signal)
      } catch {
        // the steps below find the part that fails, and pass through denied parts
      }
    }
    let rest = path.split('/').filter(Boolean)
    let real = ''
    let links = 0
    for (let segment = rest.shift(); segment !== undefined; segment = rest.shift()) {
      if (segment === '..') {
        real = parentOf(real === '' ? '/' : real)
        if (real === '/') real = ''
        continue
      }
      const next = `${real}/${segment}`
      const target = await this.#linkTarget(next, rest.length === 0)
      if (target === undefined) {
        real = next
        continue
      }
      if (++links > mostLinks) throw new FileError('ELOOP', 'realpath', path)
      if (target.startsWith('/')) real = ''
      rest = [...target.split('/').filter((part) => part !== '' && part !== '.'), ...rest]
    }
    return real === '' ? '/' : real
  }

  async hasEntry(path: string): Promise<boolean> {
    // only the file API knows whether names other than system names exist
    if (this.#topEntries !== undefined && systemNames.has(path.slice(1))) {
      this.#taken ??= this.#topEntries([...systemNames])
      return (await this.#taken).includes(path.slice(1))
    }
    try {
      await this.#ask('lstat', path, () => this.#door.stat(path, this.#signal))
      return true
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT' || code === 'ENOTDIR') return false
      // a rule denies a missing name too, so check the listing
      if (code === 'EACCES') return (await this.#listedType(path)) !== undefined
      throw error
    }
  }

  async mkdir(path: string, { recursive = false }: MkdirOptions = {}): Promise<void> {
    if (!recursive) await this.#checkAbove(path, 'mkdir', path)
    await this.#change('mkdir', path, (signal) => this.#door.createDirectory(path, { signal, recursive }))
    this.#directories.add(withoutSlash(path))
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name)
  }

  async readdirWithFileTypes(path: string): Promise<DirentEntry[]> {
    return this.#ask('scandir', path, async () => {
      const entries: DirentEntry[] = []
      for await (const { name, type } of this.#list(path)) {
        entries.push({
          name,
          isFile: type === 'file',
          isDirectory: type === 'directory',
          isSymbolicLink: type === 'symlink',
        })
      }
      return entries.sort((left, right) => (left.name < right.name ? -1 : 1))
    })
  }

  async readdirWithStats(path: string, { facts }: { readonly facts: Facts }): Promise<ListedEntry[]> {
    return this.#ask('scandir', path, () => listDirectory(this.#door, withoutSlash(path), facts, this.#listOptions))
  }

  async rm(path: string, { recursive = false, force = false }: RmOptions = {}): Promise<void> {
    await this.#change('rm', path, (signal) => this.#door.delete(path, { signal, recursive, force }))
  }

  async cp(source: string, destination: string, { recursive = false }: CpOptions = {}): Promise<void> {
    const own = await this.lstat(source)
    const from = own.isSymbolicLink && !recursive ? await this.realpath(source) : source
    const { isDirectory } = from === source ? own : await this.lstat(from)
    if (isDirectory && !recursive) throw new FileError('EISDIR', 'cp', source)
    const there = await this.lstat(destination).catch(() => undefined) // the copy itself reports the error
    if (isDirectory && there?.isDirectory === true) {
      for (const { name } of await this.readdirWithFileTypes(from)) {
        await this.cp(childOf(from, name), childOf(destination, name), { recursive: true })
      }
      return
    }
    if (there?.isFile === true && (there.mode & mayWrite) === 0) throw new FileError('EACCES', 'open', destination)
    if (there?.isSymbolicLink === true && (await this.exists(destination)) && (await this.lstat(from)).isFile) {
      // A copy over a link writes to the link's target. Rules on the link's own name apply too.
      await this.#change('cp', destination, async (signal) => {
        const { stream } = await this.#door.readStream(from, this.#signal)
        await this.#door.write(destination, stream, { signal, parents: false })
      })
      return
    }
    if (there === undefined) await this.#checkAbove(destination, 'cp', destination)
    await this.#change('cp', destination, (signal) =>
      this.#door.copy(from, destination, { signal, recursive, overwrite: true, parents: false }),
    )
  }

  async mv(source: string, destination: string): Promise<void> {
    await this.#checkAbove(destination, 'rename', source)
    await this.#change('rename', source, (signal) =>
      this.#door.move(source, destination, { signal, overwrite: true, parents: false }),
    )
  }

  async symlink(target: string, path: string): Promise<void> {
    await this.#checkAbove(path, 'symlink', path)
    await this.#change('symlink', path, (signal) => this.#door.createSymlink(path, target, { signal }))
  }

  async readlink(path: string): Promise<string> {
    return this.#ask('readlink', path, () => this.#door.readSymlink(path, this.#signal))
  }

  /** Refuses a hard link, because the file API has no hard links. */
  async link(existing: string, path: string): Promise<void> {
    await this.stat(existing)
    throw new FileError('ENOTSUP', 'link', path)
  }

  /** Sets a mode. If the file already has the mode, succeeds even in a store without modes. */
  async chmod(path: string, mode: number): Promise<void> {
    const found = await this.stat(path)
    if ((found.mode & 0o777) === (mode & 0o777)) return
    await this.#change('chmod', path, (signal) => this.#door.chmod(withoutSlash(path), mode & 0o777, { signal }))
  }

  /** Sets the time. In a store without times, sets the time to now by an empty append or a rewrite. */
  async utimes(path: string, _accessed: Date, modified: Date): Promise<void> {
    try {
      await this.#change('utime', path, (signal) =>
        this.#door.utimes(withoutSlash(path), { modifiedAt: modified.getTime() }, { signal }),
      )
      return
    } catch (error) {
      if (codeOf(error) !== 'ENOTSUP') throw error
    }
    const found = await this.stat(path)
    if (!found.isFile || Math.abs(modified.getTime() - Date.now()) > nowIsh)
      throw new FileError('ENOTSUP', 'utime', path)
    await this.appendFile(path, new Uint8Array())
    const after = await this.stat(path)
    if (after.mtime.getTime() > found.mtime.getTime()) return
    // The append did not change the time: write the same bytes again, unless another writer was faster.
    await this.#change('utime', path, async (signal) => {
      const { bytes, stat } = await this.#door.read(path, this.#signal)
      await this.#door.write(path, bytes, { signal, parents: false, ifVersion: stat.version })
    })
  }

  /** The target of a link; `undefined` for other entries, and for a denied entry, whose target cannot be read. */
  async #linkTarget(path: string, last: boolean): Promise<string | undefined> {
    try {
      const { type } = await this.#ask('lstat', path, () => this.#door.stat(path, this.#signal))
      return type === 'symlink' ? await this.readlink(path) : undefined
    } catch (error) {
      if (codeOf(error) === 'EACCES' && (!last || (await this.#listedType(path)) !== undefined)) return undefined
      throw error
    }
  }

  async #listedType(path: string): Promise<FileType | undefined> {
    const name = nameOf(path)
    try {
      for await (const entry of this.#list(parentOf(path))) if (entry.name === name) return entry.type
    } catch {
      // The listing of the parent directory failed too.
    }
    return undefined
  }

  #list(path: string) {
    return reachable(this.#door, withoutSlash(path), this.#listOptions)
  }

  get #listOptions() {
    return { ...this.#signal, leftOut: this.leftOut }
  }

  async #change(call: string, path: string, operation: (signal?: AbortSignal) => Promise<unknown>): Promise<void> {
    if (this.#signal.signal?.aborted === true) throw new FileError('EINTR', call, path)
    await this.#ask(call, path, () => operation(this.#changeSignal)).finally(() => {
      this.#taken = undefined
      this.#latest = undefined
      if (call === 'rm' || call === 'rename') this.#directories.clear()
    })
  }

  async #ask<Result>(call: string, path: string, operation: () => Promise<Result>): Promise<Result> {
    try {
      return await operation()
    } catch (error) {
      if (this.#signal.signal?.aborted === true) throw new FileError('EINTR', call, path)
      const rule = isWorkspaceError(error) ? error.rule : undefined
      throw new FileError(shellCodes[codeOf(error)] ?? codeOf(error), call, withoutSlash(path), rule)
    }
  }
}
