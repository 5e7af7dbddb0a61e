import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import type { LinkArgument } from '../adapter/link-signal.ts'
import type { Stat } from '../contract/file-types.ts'
import { isWorkspaceError } from '../errors.ts'
import type { WorkspaceError } from '../errors.ts'
import { displayPath, stripAlias } from '../path/segments.ts'
import type { AliasNames } from '../path/segments.ts'
import { joinPath, maxPathBytes, parentPath, rootPath, segmentsOf } from '../path/virtual-path.ts'
import type { MountPath, UnresolvedPath, VirtualPath } from '../path/virtual-path.ts'
import type { FileOperation, Need } from '../contract/operations.ts'
import { denialError } from './denials.ts'
import { translateError, virtualError } from './errors.ts'
import type { Gate, Located } from './gate.ts'
import { creating, danglingError, linkAt, maxLinks, namesDirectory } from './links.ts'
import type { LinkBudget } from './links.ts'
import type { WorkspaceMount } from './mounts.ts'

export interface Trace {
  landed?: VirtualPath | undefined
  destination?: VirtualPath | undefined
}

/** Called with the path that is followed, and the link on that path. */
type OnLink = (path: VirtualPath, link: VirtualPath) => void

interface LocateOptions {
  readonly operation: FileOperation
  readonly need: Need
  readonly followLast: boolean
  readonly size?: number | undefined
}

export interface ResolvedEntry {
  readonly path: VirtualPath
  readonly stat: Stat
}

const directoryStat: Stat = { type: 'directory', size: 0, version: 'synthetic' }

/** Resolves links and `..` in the workspace. Checks the policy at the target of each step, so no link leads outside. */
export class Walker {
  readonly #gate: Gate
  readonly #aliases: AliasNames
  readonly #open: (mount: WorkspaceMount) => StorageAdapter | Promise<StorageAdapter>

  constructor(
    gate: Gate,
    aliases: AliasNames,
    open: (mount: WorkspaceMount) => StorageAdapter | Promise<StorageAdapter>,
  ) {
    this.#gate = gate
    this.#aliases = aliases
    this.#open = open
  }

  /** Returns the path after the link of a {@link LinkSignal}. @throws WorkspaceError if the kernel would stop there */
  async next(operation: FileOperation, located: Located, signal: LinkSignal, budget: LinkBudget): Promise<VirtualPath> {
    const at = linkAt(located, signal)
    const path = await this.#behind(operation, at, signal, budget)
    const { target, rest } = signal
    if (rest === '' && namesDirectory(target)) await this.#requireDirectory(operation, path, budget)
    if (creating.has(operation)) await this.#requireBase(operation, at, signal, budget)
    return path
  }

  #behind(
    operation: FileOperation,
    at: VirtualPath,
    { target, rest }: Pick<LinkSignal, 'target' | 'rest'>,
    budget: LinkBudget,
  ): Promise<VirtualPath> {
    return this.#settle(operation, this.#splice(operation, at, target, rest, budget), budget)
  }

  async #requireDirectory(operation: FileOperation, path: VirtualPath, { links }: LinkBudget): Promise<void> {
    const { stat, path: found } = await this.follow(operation, path, { links })
    if (stat.type !== 'directory') throw notDirectoryError(operation, found)
  }

  /** Refuses a dangling link, so that no parents are created behind it. For a link at the end, the parent of the target is enough. */
  async #requireBase(
    operation: FileOperation,
    at: VirtualPath,
    { target, rest }: LinkSignal,
    { links }: LinkBudget,
  ): Promise<void> {
    const budget = { links: links - 1 } // counts the same link once, not twice
    const landed = await this.#behind(operation, at, { target, rest: '' }, budget)
    const base = rest === '' && operation !== 'createDirectory' ? parentPath(landed) : landed
    if (this.#gate.isReserved(base)) return // the next step refuses a reserved path
    try {
      await this.#requireDirectory(operation, base, budget)
    } catch (error) {
      if (isWorkspaceError(error, 'ENOENT')) throw danglingError(operation, at)
      // Uses a write-only path as given, since it cannot be examined.
      if (!isWorkspaceError(error, 'EACCES')) throw error
    }
  }

  #splice(operation: FileOperation, at: VirtualPath, target: string, rest: string, budget: LinkBudget): string[] {
    budget.links += 1
    if (budget.links > maxLinks) {
      throw virtualError({
        code: 'ELOOP',
        operation,
        path: at,
        reason: `is a link that leads to more than ${maxLinks} others`,
        remedy: 'look at it with `readSymlink` and mend it',
      })
    }
    const start = target.startsWith('/') ? [] : segmentsOf(parentPath(at))
    const added = `${target}/${rest}`.split('/').filter((name) => name !== '' && name !== '.')
    if (target === '' || target.includes('\0')) throw danglingError(operation, at)
    // The directories before the link are real, so a leading `..` removes one name; `/..` is `/`.
    let index = 0
    while (added[index] === '..') {
      start.pop()
      index += 1
    }
    const segments = [...start, ...added.slice(index)]
    if (segments.join('/').length > maxPathBytes) throw danglingError(operation, at)
    return segments
  }

  /** Resolves `..` after names. */
  async settle(operation: FileOperation, path: VirtualPath | UnresolvedPath, budget: LinkBudget): Promise<VirtualPath> {
    return typeof path === 'string' ? path : this.#settle(operation, path.segments, budget)
  }

  async #settle(operation: FileOperation, given: readonly string[], budget: LinkBudget): Promise<VirtualPath> {
    let segments = given
    for (;;) {
      const index = segments.indexOf('..')
      if (index === -1) return stripAlias(`/${segments.join('/')}` as VirtualPath, this.#aliases)
      const rest = segments.slice(index + 1)
      if (index === 0) {
        segments = rest
        continue
      }
      const before = `/${segments.slice(0, index).join('/')}` as VirtualPath
      const { path, stat } = await this.follow(operation, stripAlias(before, this.#aliases), budget)
      if (stat.type !== 'directory') throw notDirectoryError(operation, path)
      segments = [...segmentsOf(parentPath(path)), ...rest]
    }
  }

  /** Returns the final path and its entry. Checks at each step whether the policy allows reading. */
  async follow(
    operation: FileOperation,
    path: VirtualPath,
    budget: LinkBudget,
    last = true,
    onLink?: OnLink,
  ): Promise<ResolvedEntry> {
    let current = path
    let directory = false
    for (;;) {
      const located = this.#gate.admit('stat', current, 'read')
      const { mount } = located
      if (mount === undefined) return { path: current, stat: directoryStat }
      const adapter = await this.#open(mount)
      let target: string
      try {
        const stat = await adapter.stat(located.path)
        if (stat.type !== 'symlink' || !last) {
          if (directory && stat.type !== 'directory') throw notDirectoryError(operation, current)
          return { path: current, stat }
        }
        target = (await adapter.readSymlink?.(located.path)) ?? ''
      } catch (error) {
        if (!(error instanceof LinkSignal)) throw translateError(error, { operation, at: mount.at, path: current })
        const link = linkAt(located, error)
        onLink?.(current, link)
        current = await this.#behind(operation, link, error, budget)
        continue
      }
      onLink?.(current, current)
      directory ||= namesDirectory(target)
      current = await this.#settle(operation, this.#splice(operation, current, target, '', budget), budget)
    }
  }

  /** Resolves the links of a path, also at its end if `followLast`. The last name need not exist. */
  async canonical(
    operation: FileOperation,
    path: VirtualPath,
    followLast: boolean,
    budget: LinkBudget,
    onLink?: OnLink,
  ): Promise<VirtualPath> {
    // a store without links cannot have another path for the entry, so no call is needed
    if (path === rootPath || this.#gate.namespace.find(path).mount?.adapter?.capabilities.symlinks === false)
      return path
    try {
      return (await this.follow(operation, path, budget, followLast, onLink)).path
    } catch (error) {
      // Uses a write-only path as given, since it cannot be examined.
      if (isWorkspaceError(error, 'EACCES') && error.path === path) return path
      if (!isWorkspaceError(error, 'ENOENT')) throw error
      const parent = await this.canonical(operation, parentPath(path), true, budget, onLink)
      return joinPath(parent, path.slice(path.lastIndexOf('/')) as MountPath)
    }
  }

  /**
   * Runs one step at a path, and again at the target of a link. If a write is refused at a path with links, their target decides instead.
   * The refusal is final if the path has no link, cannot be read, or has a link that a rule names.
   */
  async run<Result>(
    options: LocateOptions & {
      readonly argument?: LinkArgument | undefined
      readonly signal?: AbortSignal | undefined
      readonly trace?: Trace | undefined
    },
    path: VirtualPath | UnresolvedPath,
    step: (located: Located, adapter: StorageAdapter | undefined) => Promise<Result>,
  ): Promise<Result> {
    const { operation } = options
    const budget: LinkBudget = { links: 0 }
    let current = typeof path === 'string' ? path : await this.settle(operation, path, budget)
    for (;;) {
      // Calls no async function in the usual case, to avoid a promise.
      const admitted = this.#admitOrRefuse(options, current)
      const located =
        'refusal' in admitted ? await this.#admitWhereItLands(options, current, budget, admitted.refusal) : admitted
      const { mount } = located
      if (options.trace !== undefined) options.trace.landed = located.virtual
      const adapter = mount?.adapter ?? (mount === undefined ? undefined : await this.#open(mount))
      try {
        return await step(located, adapter)
      } catch (error) {
        if (!(error instanceof LinkSignal))
          throw translateError(error, { operation, at: mount?.at, path: located.virtual, signal: options.signal })
        if (error.argument !== (options.argument ?? 'path')) throw error
        current = await this.next(operation, located, error, budget)
      }
    }
  }

  /** Admits a path as {@link Gate.admit} does. A refused write may be admitted at the target of links: see {@link run}. */
  async locate(
    { operation, need, followLast, size }: LocateOptions,
    path: VirtualPath,
    budget: LinkBudget,
  ): Promise<Located> {
    const options = { operation, need, followLast, size }
    const admitted = this.#admitOrRefuse(options, path)
    return 'refusal' in admitted ? this.#admitWhereItLands(options, path, budget, admitted.refusal) : admitted
  }

  #admitOrRefuse(
    { operation, need, size }: LocateOptions,
    path: VirtualPath,
  ): Located | { readonly refusal: WorkspaceError } {
    try {
      return this.#gate.admit(operation, path, need, size)
    } catch (refusal) {
      if (need === 'write' && (isWorkspaceError(refusal, 'EACCES') || isWorkspaceError(refusal, 'EROFS')))
        return { refusal }
      throw refusal
    }
  }

  async #admitWhereItLands(
    { operation, need, followLast, size }: LocateOptions,
    path: VirtualPath,
    budget: LinkBudget,
    refusal: WorkspaceError,
  ): Promise<Located> {
    let landed: VirtualPath
    let named: WorkspaceError | undefined
    try {
      landed = await this.canonical(operation, path, followLast, budget, (at, link) => {
        named ??= this.refusalAtLink({ operation, need, size }, at, link)
        if (named !== undefined) throw named // @defence a write through a link at a name under a rule: hold for
      })
    } catch {
      throw named ?? refusal
    }
    if (landed === path) throw named ?? refusal
    return this.#gate.admit(operation, landed, need, size)
  }

  refusalAtLink(
    { operation, need, size }: Omit<LocateOptions, 'followLast'>,
    path: VirtualPath,
    link: VirtualPath,
  ): WorkspaceError | undefined {
    const { namespace, declared } = this.#gate
    const denied = declared.refusalAtLink(namespace.find(path), { operation, path, need, size }, link)
    return denied && denialError(operation, path, denied)
  }
}

export function notDirectoryError(operation: string, path: VirtualPath | UnresolvedPath): WorkspaceError {
  return virtualError({
    code: 'ENOTDIR',
    operation,
    path: displayPath(path),
    reason: 'is not a directory',
    remedy: 'drop what follows its name, the slash included',
  })
}
