import { childOf, codeOf, FileError, nameOf, parentOf, tidyPath } from '@ws/shell-tools/files'
import {
  type ByteString,
  type CpOptions,
  type FileContent,
  type FsStat,
  type IFileSystem,
  InMemoryFs,
  type MkdirOptions,
  type RmOptions,
} from '#just-bash'

import type { Facts, ListedEntry } from '@ws/shell-tools'
import type { AsyncFiles, DirentEntry, WorkspaceAsyncFiles } from './contract.ts'
import type { EncodingOption } from './encoding.ts'
import { type Failure, recordFailures } from './failures.ts'
import { OwnNames } from './own-names.ts'
import { checkSystem, discarding, isSystem, offered, programs, standardStream } from './system-names.ts'

export interface ScriptSession {
  refuse(subject: string, reason: string): never
  check(): void
}

export interface SystemOptions {
  /** Ends a script that needs a missing feature, and checks whether the script must end. */
  readonly session?: ScriptSession | undefined
  readonly root?: string | undefined
}

/** The use of a path: creating an entry, reading content or a listing, or anything else. */
type Purpose = 'make' | 'read' | 'look'

interface FileLocation {
  readonly files: AsyncFiles
  readonly at: string
}

/**
 * Adds system names (`/bin`, `/dev`, `/proc` …) where the workspace has no entry.
 * The interpreter makes the content of these names in memory, without content of this machine. A listing of `/` omits the names.
 */
export class BashFileSystem implements IFileSystem {
  readonly failures: readonly Failure[]
  readonly #files: WorkspaceAsyncFiles
  readonly #record: (failure: Failure) => void
  readonly #typed: Map<string, string>
  readonly #system = new InMemoryFs()
  readonly #session: SystemOptions['session']
  readonly #root: string
  readonly #own: OwnNames
  constructor(files: WorkspaceAsyncFiles, { session, root = '/' }: SystemOptions = {}) {
    this.#session = session
    this.#root = root
    const { recorded, failures, record, typed } = recordFailures(files)
    this.#files = recorded
    this.failures = failures
    this.#record = record
    this.#typed = typed
    this.#own = new OwnNames(files)
  }

  /** True if the last lookup found a program of this name in the workspace. */
  hasOwnProgram(name: string): boolean {
    return this.#own.latest === `/bin/${name}` || this.#own.latest === `/usr/bin/${name}`
  }

  /** Makes a system directory in memory. The interpreter calls this method only at its start. */
  mkdirSync(path: string, options?: MkdirOptions): void {
    checkSystem(path, 'mkdir')
    this.#system.mkdirSync(path, options)
  }

  writeFileSync(path: string, content: FileContent): void {
    checkSystem(path, 'open')
    this.#system.writeFileSync(path, content)
  }

  writeFileLazy(path: string, lazy: () => string | Uint8Array | Promise<string | Uint8Array>): void {
    checkSystem(path, 'open')
    this.#system.writeFileLazy(path, lazy)
  }

  resolvePath(base: string, path: string): string {
    // An empty path remains empty: every operation on an empty path is ENOENT.
    if (path === '') return ''
    // Commands that search upwards from a directory reach the root with `../..`.
    if (/^(?:\.\.\/?)+$/.test(path)) return path.split('..').slice(1).reduce(parentOf, tidyPath(base))
    return tidyPath(path.startsWith('/') ? path : `${base}/${path}`)
  }

  /** Always empty: just-bash then lists the directories in which a glob can match. */
  getAllPaths(): string[] {
    return []
  }

  async readFile(path: string, options?: EncodingOption): Promise<string> {
    const { files, at } = await this.#readable(path)
    return files.readFile(at, options)
  }

  async readFileBytes(path: string): Promise<ByteString> {
    const { files, at } = await this.#readable(path)
    return files.readFileBytes(at)
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const { files, at } = await this.#readable(path)
    return files.readFileBuffer(at)
  }

  async writeFile(path: string, content: FileContent, options?: EncodingOption): Promise<void> {
    const { files, at } = await this.#writable(path, 'open', 'make')
    if (!this.#discards({ files, at })) await files.writeFile(at, content, asOption(options))
  }

  async appendFile(path: string, content: FileContent, options?: EncodingOption): Promise<void> {
    const { files, at } = await this.#writable(path, 'open', 'make')
    if (!this.#discards({ files, at })) await files.appendFile(at, content, asOption(options))
  }

  #discards({ files, at }: FileLocation): boolean {
    return files === this.#system && discarding.has(at)
  }

  async exists(path: string): Promise<boolean> {
    // The interpreter checks these directories after a call of an unknown program.
    if (path === '/bin' || path === '/usr/bin') return true
    const found = await this.#place(path).catch(() => undefined)
    return found === undefined ? false : found.files.exists(found.at)
  }

  async stat(path: string): Promise<FsStat> {
    const { files, at } = await this.#place(path)
    return { ...this.#shown(await files.stat(at), { files, at }), identity: await realPlace(files, at) }
  }

  async lstat(path: string): Promise<FsStat> {
    const { files, at } = await this.#place(path)
    return { ...this.#shown(await files.lstat(at), { files, at }), identity: await this.#ownPlace(files, at) }
  }

  async look(path: string, { follow = false } = {}): Promise<FsStat> {
    const { files, at } = await this.#place(path)
    return this.#shown(await (follow ? files.stat(at) : files.lstat(at)), { files, at })
  }

  #shown(stat: FsStat, { files, at }: FileLocation): FsStat {
    return files === this.#files ? stat : programs(at, stat)
  }

  async #ownPlace(files: AsyncFiles, at: string): Promise<string> {
    return at === '/' ? at : childOf(await realPlace(files, parentOf(at)), nameOf(at))
  }

  async mkdir(path: string, options?: MkdirOptions): Promise<void> {
    const { files, at } = await this.#writable(path, 'mkdir', 'make')
    await files.mkdir(at, options)
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name)
  }

  async readdirWithFileTypes(path: string): Promise<DirentEntry[]> {
    const { files, at } = await this.#listable(path)
    return files.readdirWithFileTypes(at)
  }

  /** Lists a directory with facts at once: an `lstat` for each entry would cost more. Only this package's commands use this method. */
  async readdirWithStats(path: string, { facts }: { readonly facts: Facts }): Promise<ListedEntry[]> {
    const { files, at } = await this.#listable(path)
    if (files === this.#files) return this.#files.readdirWithStats(at, { facts })
    return (await files.readdir(at)).map((name) => ({ name }))
  }

  async #listable(path: string): Promise<FileLocation> {
    const place = await this.#place(path, 'read')
    if (place.at === '/' && this.#root !== '/')
      this.#session?.refuse('/', `the system's directories are not here; list \`${this.#root}\``)
    return place
  }

  async rm(path: string, options?: RmOptions): Promise<void> {
    const { files, at } = await this.#writable(path, 'rm')
    await files.rm(at, options)
  }

  async cp(source: string, destination: string, options?: CpOptions): Promise<void> {
    const from = await this.#place(source)
    const to = await this.#writable(destination, 'cp', 'make')
    if (from.files === to.files) await to.files.cp(from.at, to.at, options)
    else await to.files.writeFile(to.at, await from.files.readFileBuffer(from.at))
  }

  async mv(source: string, destination: string): Promise<void> {
    const from = await this.#writable(source, 'rename')
    const to = await this.#writable(destination, 'rename', 'make')
    if (from.files !== to.files) throw new FileError('EROFS', 'rename', source)
    await to.files.mv(from.at, to.at)
  }

  async chmod(path: string, mode: number): Promise<void> {
    const { files, at } = await this.#writable(path, 'chmod')
    await this.#supported(path, files.chmod(at, mode), 'this store keeps no modes; run a script by `bash FILE`')
  }

  /** Sets a mode, or does nothing if the store keeps no modes. */
  async chmodIfKept(path: string, mode: number): Promise<void> {
    const { files, at } = await this.#writable(path, 'chmod')
    await files.chmod(at, mode).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOTSUP') throw error
    })
  }

  async symlink(target: string, path: string): Promise<void> {
    const { files, at } = await this.#writable(path, 'symlink', 'make')
    await files.symlink(target, at)
  }

  async link(existing: string, path: string): Promise<void> {
    const from = await this.#place(existing)
    const { files, at } = await this.#writable(path, 'link', 'make')
    if (from.files !== files) throw new FileError('ENOTSUP', 'link', path)
    await this.#supported(path, files.link(from.at, at), 'there are no hard links here; use `ln -s` or `cp`')
  }

  async readlink(path: string): Promise<string> {
    const { files, at } = await this.#place(path)
    return files.readlink(at)
  }

  async realpath(path: string): Promise<string> {
    const { files, at } = await this.#place(path)
    return files.realpath(at)
  }

  async utimes(path: string, accessed: Date, modified: Date): Promise<void> {
    const { files, at } = await this.#writable(path, 'utime')
    await this.#supported(path, files.utimes(at, accessed, modified), 'this store sets no times')
  }

  /** Ends the script at an unsupported operation: later commands would assume that the operation succeeded. */
  async #supported(path: string, operation: Promise<void>, reason: string): Promise<void> {
    try {
      await operation
    } catch (error) {
      if (codeOf(error) === 'ENOTSUP') this.#session?.refuse(path, reason)
      throw error
    }
  }

  /** The file system that owns a path, and the path without `..`. */
  async #place(path: string, purpose: Purpose = 'look'): Promise<FileLocation> {
    if (path === '') throw new FileError('ENOENT', 'open', path)
    const at = await this.#settle(tidyPath(path)).catch((error: unknown) => {
      this.#record({ path, code: codeOf(error) })
      throw error
    })
    if (at !== path && path.includes('..')) this.#typed.set(at, path)
    if (!isSystem(at)) {
      this.#own.latest = undefined
      return { files: this.#files, at }
    }
    if (purpose === 'make') this.#own.forget()
    const isOffered = offered.test(at)
    if (await this.#own.has(at, isOffered)) return { files: this.#files, at }
    if (isOffered && (purpose !== 'make' || at.startsWith('/dev/'))) return { files: this.#system, at }
    if (purpose === 'make' || (purpose === 'look' && this.#root === '/')) return { files: this.#files, at }
    this.#session?.refuse(path, 'there are no files of the system here')
    return { files: this.#system, at }
  }

  async #readable(path: string): Promise<FileLocation> {
    const place = await this.#place(path, 'read')
    if (place.files === this.#system && standardStream.test(place.at))
      this.#session?.refuse(path, 'use `-`, or a redirection')
    return place
  }

  async #writable(path: string, call: string, purpose?: Purpose): Promise<FileLocation> {
    // A refused script may still run for a while: its writes must change nothing.
    this.#session?.check()
    const place = await this.#place(path, purpose)
    if (place.files === this.#files || discarding.has(place.at) || place.at.startsWith('/dev/fd/')) return place
    const stream = standardStream.test(place.at)
    if (stream) this.#session?.refuse(path, 'use a redirection such as >&2')
    const code = stream ? 'ENXIO' : 'EROFS'
    this.#record({ path, code })
    throw new FileError(code, call, path)
  }

  /** Resolves each `..` as the kernel does, from the real path of the directory before the `..`. */
  async #settle(path: string): Promise<string> {
    if (!path.includes('/..')) return path
    let settled = ''
    for (const segment of path.slice(1).split('/')) {
      if (segment !== '..') {
        settled += `/${segment}`
        continue
      }
      const up = await this.#above(settled === '' ? '/' : settled)
      settled = up === '/' ? '' : up
    }
    return settled === '' ? '/' : settled
  }

  async #above(path: string): Promise<string> {
    if (path === '/' || (isSystem(path) && !(await this.#own.has(path, offered.test(path))))) return parentOf(path)
    const real = await this.#files.realpath(path)
    if (!(await this.#files.stat(real)).isDirectory) throw new FileError('ENOTDIR', 'open', path)
    return parentOf(real)
  }
}

function asOption(options: EncodingOption): Parameters<AsyncFiles['writeFile']>[2] {
  return typeof options === 'string' || options === undefined ? options : { encoding: options.encoding ?? 'utf8' }
}

/** Resolves the links of a directory. For a denied directory around an allowed part, returns the path unchanged. */
async function realPlace(files: AsyncFiles, at: string): Promise<string> {
  try {
    return await files.realpath(at)
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error
    return at
  }
}
