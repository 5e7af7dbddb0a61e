import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import type { Entry } from '../contract/file-types.ts'
import type { Context } from '../calls/context.ts'
import { isWorkspaceError } from '../errors.ts'
import type { WorkspaceError } from '../errors.ts'
import { parseIgnoreRules } from '../glob/ignore-rules.ts'
import type { IgnoreRules } from '../glob/ignore-rules.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import type { Located } from '../mount/gate.ts'
import { Descent } from '../path/descent.ts'
import { baseName, childPath, isWithin, joinPath, parentPath, relativeTo, rootPath } from '../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'
import { pathBelow } from './regions.ts'

/** The names of ignore files, by precedence. The first name with a matching line decides, whatever directory its file lies in. */
const fileNames = ['.rgignore', '.ignore', '.gitignore'] as const
const repository = '.git'

/** Maximum bytes in one ignore file, and in all ignore files of one call. */
const maxFileBytes = 256 * 1024
const maxBytes = 4 * 1024 * 1024

/** Error codes for which an ignore file or a directory is skipped: it is gone or unreadable. */
const passedOver = ['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EINVAL', 'ENAMETOOLONG', 'ELOOP'] as const

interface InForce {
  readonly directory: VirtualPath
  readonly rules: IgnoreRules
}

/** The ignore files that apply in a directory, grouped by file name, with the nearest file first. */
type Chain = readonly (readonly InForce[])[]

export interface IgnoreOptions {
  readonly signal: AbortSignal | undefined
  readonly onLeftOut: ((path: VirtualPath) => void) | undefined
  readonly onUnreadable: ((path: VirtualPath, error: WorkspaceError) => void) | undefined
}

/** Decides by ignore files which entries to skip, as ripgrep does. Skips ignore files that are links, as git does. */
export class IgnoreFiles {
  readonly #context: Context
  readonly #start: VirtualPath
  readonly #options: IgnoreOptions
  readonly #rules = new Map<string, IgnoreRules>()
  readonly #repositories = new Set<string>()
  #chains: Descent<Chain>
  #ignored: Descent<boolean>
  #bytes = 0

  private constructor(context: Context, start: VirtualPath, options: IgnoreOptions) {
    this.#context = context
    this.#start = start
    this.#options = options
    this.#chains = this.#newChains()
    this.#ignored = this.#newIgnored()
  }

  static async open(context: Context, start: VirtualPath, options: IgnoreOptions): Promise<IgnoreFiles> {
    const files = new IgnoreFiles(context, start, options)
    for (let at = start; at !== rootPath; ) {
      at = parentPath(at)
      for (const name of fileNames) await files.#read(childPath(at, name))
      if (await files.#isThere(childPath(at, repository))) files.#repositories.add(at)
    }
    files.#forget()
    return files
  }

  async load(directory: VirtualPath, entries: Iterable<Pick<Entry, 'name' | 'type'>>): Promise<void> {
    const before = this.#rules.size + this.#repositories.size
    for (const { name, type } of entries) {
      if (name === repository) this.#repositories.add(directory)
      else if (type === 'file' && isIgnoreFile(name)) await this.#read(childPath(directory, name))
    }
    if (this.#rules.size + this.#repositories.size === before) return
    this.#forget()
  }

  /** Reads all ignore files of a region to search, except in ignored directories. */
  async loadBelow({ virtual, mount, path }: Located, adapter: StorageAdapter, exclude: MountPath[]): Promise<void> {
    const at = mount?.at ?? rootPath
    const { signal } = this.#options
    // For a store without directories, one recursive listing takes fewer requests.
    const recursive = !adapter.capabilities.enforcesHierarchy
    const waiting = [path]
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      const found = new Map<VirtualPath, Entry[]>()
      const below: MountPath[] = []
      try {
        for await (const entry of adapter.list(directory, { recursive, exclude, signal })) {
          if (entry.unreachable) continue
          if (!recursive && entry.type === 'directory') below.push(entry.path)
          if (entry.name !== repository && !isIgnoreFile(entry.name)) continue
          const parent = parentPath(joinPath(at, entry.path))
          found.set(parent, [...(found.get(parent) ?? []), entry])
        }
      } catch (error) {
        const isPassed = error instanceof LinkSignal || passedOver.some((code) => isWorkspaceError(error, code))
        if (!isPassed) throw translateError(error, { operation: 'search', at, path: virtual, signal })
      }
      for (const [parent, entries] of found) await this.load(parent, entries)
      for (const next of below) {
        if (!exclude.includes(next) && !this.isIgnored(joinPath(at, next), true)) waiting.push(next)
      }
    }
  }

  isIgnored(path: VirtualPath, isDirectory: boolean): boolean {
    if (path === this.#start) return false
    return this.#ignored.at(parentPath(path)) || this.judge(path, isDirectory)
  }

  judge(path: VirtualPath, isDirectory: boolean): boolean {
    if (!this.#isLeftOut(path, isDirectory)) return false
    this.#options.onLeftOut?.(path)
    return true
  }

  #isLeftOut(path: VirtualPath, isDirectory: boolean): boolean {
    if (baseName(path) === repository) return true
    for (const files of this.#chains.at(parentPath(path))) {
      for (const { directory, rules } of files) {
        const verdict = rules.judge(pathBelow(path, directory), isDirectory)
        if (verdict !== undefined) return verdict
      }
    }
    return false
  }

  /** Drops cached decisions, which a newly read ignore file can invalidate. */
  #forget(): void {
    this.#chains = this.#newChains()
    this.#ignored = this.#newIgnored()
  }

  #newChains(): Descent<Chain> {
    return new Descent(rootPath, this.#chainAt(rootPath, []), (above: Chain, path) => this.#chainAt(path, above))
  }

  #newIgnored(): Descent<boolean> {
    return new Descent(rootPath, false, (above, path) => {
      const isBelow = path !== this.#start && isWithin(path, this.#start)
      return above || (isBelow && this.judge(path, true))
    })
  }

  #chainAt(directory: VirtualPath, above: Chain): Chain {
    return fileNames.map((name, index) => {
      // The rules of a repository end at its root.
      const isEnd = name === '.gitignore' && this.#repositories.has(directory)
      const outer = isEnd ? [] : (above[index] ?? [])
      const rules = this.#rules.get(childPath(directory, name))
      return rules === undefined ? outer : [{ directory, rules }, ...outer]
    })
  }

  async #read(path: VirtualPath): Promise<void> {
    const { signal } = this.#options
    const limit = Math.min(maxFileBytes, maxBytes - this.#bytes)
    try {
      const read = await this.#at(path, (adapter, at) => adapter.read(at, { maxBytes: limit, signal }))
      if (read === undefined) return
      this.#bytes += read.bytes.length
      const rules = parseIgnoreRules(read.bytes)
      if (rules === undefined) this.#tell(path, 'has rules that take too long to match')
      else this.#rules.set(path, rules)
    } catch (error) {
      if (isWorkspaceError(error, 'EFBIG')) {
        const total =
          limit < maxFileBytes ? `, with those before more than ${maxBytes}` : ` of more than ${maxFileBytes}`
        this.#tell(path, `is too large for an ignore file${total} bytes`)
      } else if (isWorkspaceError(error, 'EBUSY')) this.#tell(path, 'is held by another process')
      else throw error
    }
  }

  #tell(path: VirtualPath, reason: string): void {
    const remedy = 'its rules are not applied; make it smaller, or look everywhere'
    this.#options.onUnreadable?.(path, virtualError({ code: 'EFBIG', operation: 'search', path, reason, remedy }))
  }

  async #isThere(path: VirtualPath): Promise<boolean> {
    const { signal } = this.#options
    return (await this.#at(path, (adapter, at) => adapter.stat(at, { signal }))) !== undefined
  }

  async #at<Result>(
    path: VirtualPath,
    ask: (adapter: StorageAdapter, at: MountPath) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { signal } = this.#options
    const { gate } = this.#context
    if (gate.decide({ operation: 'read', path, need: 'read' }).effect === 'deny') return undefined // @defence an ignore file that rules deny: rules deny
    try {
      const { mount, reserved } = gate.namespace.find(path)
      if (reserved || mount === undefined) return undefined
      return await ask(await this.#context.open(mount), relativeTo(path, mount.at))
    } catch (error) {
      if (error instanceof LinkSignal || passedOver.some((code) => isWorkspaceError(error, code))) return undefined
      throw translateError(error, { operation: 'search', at: rootPath, path, signal })
    }
  }
}

function isIgnoreFile(name: string): boolean {
  return (fileNames as readonly string[]).includes(name)
}
