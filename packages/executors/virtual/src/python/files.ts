import { childOf, codeOf, nameOf, parentOf, tidyPath } from '@ws/shell-tools/files'
import type { FsStat } from 'just-bash'

import type { FileMethod } from '../files/contract.ts'
import { Content, type ContentOptions } from './content.ts'
import { CallError } from './errors.ts'
import { type Facts, factsOf, type Names, streamFacts, typeOf } from './facts.ts'
import { Library } from './library.ts'

const flag = { write: 3, create: 0o100, exclusive: 0o200, truncate: 0o1000, directory: 0o200000, noFollow: 0o400000 }

interface FilesOptions extends ContentOptions {
  readonly library: Library
}

/** The workspace's files as system calls use them. Each access is a request to the workspace's file door. */
export class Files {
  readonly #options: FilesOptions
  readonly #open = new Map<string, Content>()
  /** Real paths of directories, until the program changes links or directories. */
  readonly #parents = new Map<string, string>()
  /** Whether the workspace has a name that the system has too. */
  readonly #own = new Map<string, boolean>()

  constructor(options: FilesOptions) {
    this.#options = options
  }

  /** An absolute path. Each `..` leaves the real directory before it, as in the kernel. */
  resolve(base: string, path: string): string {
    if (path === '') throw new CallError('ENOENT')
    const whole = tidyPath(path.startsWith('/') ? path : `${base}/${path}`)
    if (!whole.includes('/..')) return whole
    let at = '/'
    for (const part of whole.split('/').filter(Boolean)) {
      if (part !== '..') at = tidyPath(`${at}/${part}`)
      else at = parentOf(this.#inLibrary(at) ? at : (this.#call('realpath', at) as string))
    }
    return at
  }

  /** A device's name for a path such as `/dev/null`, unless the workspace has a `/dev` of its own. */
  device(path: string): string | undefined {
    if (!path.startsWith('/dev/')) return undefined
    return this.#has('/dev') ? undefined : path.slice(5)
  }

  #has(name: string): boolean {
    const own = this.#own.get(name) ?? (this.#call('hasEntry', name) as boolean)
    this.#own.set(name, own)
    return own
  }

  /** True for the library, and for all of `/usr` unless the workspace has a `/usr` of its own. */
  #inLibrary(path: string): boolean {
    if (path !== '/usr' && !path.startsWith('/usr/')) return false
    return path.startsWith('/usr/lib/py') || path === Library.program || !this.#has('/usr')
  }

  /** @throws CallError `ENOENT` and more */
  look(path: string, { follow = true } = {}): Facts {
    if (this.#inLibrary(path)) return this.#ofLibrary(path)
    if (this.device(path) !== undefined) return this.#ofDevice(path)
    this.save()
    const found = this.#call('lstat', path) as FsStat
    if (!follow || !found.isSymbolicLink) return factsOf(found, this.#realOf(path))
    const real = this.#call('realpath', path) as string
    return factsOf(this.#call('lstat', real) as FsStat, real)
  }

  #ofDevice(path: string): Facts {
    if (!/^\/dev\/(?:null|std(?:in|out|err)|fd\/\d+)$/.test(path)) throw new CallError('ENOENT')
    return streamFacts(path)
  }

  #ofLibrary(path: string): Facts {
    const type = this.#options.library.entries(path) === undefined ? 'file' : 'directory'
    const size = type === 'directory' ? 0 : this.#options.library.read(path)?.length
    if (size === undefined) throw new CallError('ENOENT')
    return { type, mode: 0o555, size, modifiedAt: 0, real: path }
  }

  #realOf(path: string): string {
    if (path === '/') return path
    const above = parentOf(path)
    const real = this.#parents.get(above) ?? this.#realDirectory(above)
    this.#parents.set(above, real)
    return childOf(real, nameOf(path))
  }

  /** Resolves links. A denied directory around an allowed part keeps its path. */
  #realDirectory(path: string): string {
    try {
      return this.#call('realpath', path) as string
    } catch (error) {
      if (codeOf(error) !== 'EACCES') throw error
      return path
    }
  }

  lookIfThere(path: string, options?: { readonly follow?: boolean }): Facts | undefined {
    try {
      return this.look(path, options)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }

  list(path: string): Names[] {
    const own = this.#inLibrary(path) ? this.#options.library.entries(path) : undefined
    if (own !== undefined) return [...own].map(([name, inner]) => ({ name, type: inner ? 'directory' : 'file' }))
    this.save()
    const entries = this.#call('readdirWithFileTypes', path) as readonly (Omit<FsStat, 'mode'> & { name: string })[]
    return entries.map((entry) => ({ name: entry.name, type: typeOf(entry) }))
  }

  /** Opens a file, or returns the facts of a directory. The workspace refuses here what its rules refuse, before the program goes on. */
  open(path: string, flags: number, mode: number): Content | Facts {
    const writes = (flags & flag.write) !== 0
    const creates = (flags & flag.create) !== 0
    if (this.#inLibrary(path)) {
      if (writes) throw new CallError('EROFS')
      const facts = this.#ofLibrary(path)
      const bytes = this.#options.library.read(path)
      return bytes === undefined ? facts : new Content(this.#options, facts, undefined, bytes)
    }
    const exclusive = creates && (flags & flag.exclusive) !== 0
    const found = this.lookIfThere(path, { follow: !exclusive && (flags & flag.noFollow) === 0 })
    if (found !== undefined && exclusive) throw new CallError('EEXIST')
    if (found?.type === 'symlink') throw new CallError('ELOOP')
    if (found?.type === 'directory') {
      if (writes || creates) throw new CallError('EISDIR')
      return found
    }
    if (found === undefined && !creates) throw new CallError('ENOENT')
    if ((flags & flag.directory) !== 0) throw new CallError('ENOTDIR')
    const empties = found === undefined || (writes && (flags & flag.truncate) !== 0)
    if (empties) this.#call('writeFile', path, new Uint8Array())
    else if (writes) this.#call('appendFile', path, new Uint8Array())
    if (found === undefined && (mode & 0o777) !== 0o666) this.chmod(path, mode & ~0o022, { ifKept: true })
    const facts = empties ? this.look(path) : found
    const content = this.#open.get(facts.real) ?? new Content(this.#options, facts, facts.real)
    if (empties) content.empty()
    else if ((flags & 3) !== 1) content.load()
    content.users++
    this.#open.set(facts.real, content)
    return content
  }

  /** Writes the changes of every open file. */
  save(): void {
    for (const content of this.#open.values()) content.saveAside()
  }

  /** Writes the changes of the files that the program left open. @throws the first failure */
  end(): void {
    this.save()
    for (const content of this.#open.values()) content.save()
  }

  close(content: Content): void {
    if (--content.users > 0) return
    try {
      content.save()
    } finally {
      content.release()
      if (content.path !== undefined) this.#open.delete(content.path)
    }
  }

  makeDirectory(path: string, mode: number): void {
    this.#change('mkdir', path)
    if ((mode & 0o777) !== 0o777) this.chmod(path, mode & ~0o022, { ifKept: true })
  }

  remove(path: string, kind: 'file' | 'directory'): void {
    const facts = this.look(path, { follow: false })
    if (facts.type === 'directory' && kind === 'file') throw new CallError('EISDIR')
    if (facts.type !== 'directory' && kind === 'directory') throw new CallError('ENOTDIR')
    this.#change('rm', path)
    this.#forget(facts.real)
  }

  /** Keeps the content of an open file without a name, until its last descriptor is closed. */
  #forget(real: string): void {
    const content = this.#open.get(real)
    this.#open.delete(real)
    if (content !== undefined) content.path = undefined
  }

  rename(from: string, to: string): void {
    const source = this.look(from, { follow: false })
    const target = this.lookIfThere(to, { follow: false })
    if (source.real === target?.real) return
    if (target !== undefined && (source.type === 'directory') !== (target.type === 'directory'))
      throw new CallError(target.type === 'directory' ? 'EISDIR' : 'ENOTDIR')
    if (target?.type === 'directory') this.#change('rm', to)
    this.#change('mv', from, to)
    if (target !== undefined) this.#forget(target.real)
    const real = this.#realOf(to)
    for (const [path, content] of this.#open) {
      if (path !== source.real && !path.startsWith(`${source.real}/`)) continue
      this.#open.delete(path)
      content.path = real + path.slice(source.real.length)
      this.#open.set(content.path, content)
    }
  }

  chmod(path: string, mode: number, { ifKept = false } = {}): void {
    try {
      this.#change('chmod', path, mode & 0o777)
    } catch (error) {
      if (!ifKept || codeOf(error) !== 'ENOTSUP') throw error
    }
  }

  setTime(path: string, modified: number): void {
    this.#change('utimes', path, new Date(modified), new Date(modified))
  }

  link(target: string, path: string): void {
    if (this.lookIfThere(path, { follow: false }) !== undefined) throw new CallError('EEXIST')
    this.#change('symlink', target, path)
  }

  linkTarget(path: string): string {
    if (this.look(path, { follow: false }).type !== 'symlink') throw new CallError('EINVAL')
    return this.#call('readlink', path) as string
  }

  #change(method: FileMethod, path: string, ...parameters: readonly unknown[]): void {
    if (this.#inLibrary(method === 'symlink' ? String(parameters[0]) : path)) throw new CallError('EROFS')
    this.save()
    this.#parents.clear()
    this.#call(method, path, ...parameters)
  }

  #call(method: FileMethod, ...parameters: readonly unknown[]): unknown {
    return this.#options.ask(method, ...parameters)
  }
}
