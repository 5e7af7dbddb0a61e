import type { StorageAdapter } from '../contract/adapter.ts'
import { contractError } from '../adapter/failures.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import { isWorkspaceError, rewriteError, WorkspaceError, type PartialProgress } from '../errors.ts'
import { isWithin, joinPath, parseMountPath, relativeTo, type MountPath } from '../path/virtual-path.ts'
import { wrapIterator } from './iterator.ts'
import { factsOf, type AdapterOperation } from '../contract/operations.ts'
import { checkLayer, isStream, wrapAdapter, type Call, type LayerOptions } from './wrap-adapter.ts'

/** Operations that would treat a file or link at the root like an ordinary entry. */
const entering: ReadonlySet<AdapterOperation> = new Set(['stat', 'read', 'readStream', 'readSymlink', 'search'])

/**
 * Makes an adapter for a subtree: its `/` is the directory at `path`. Entries, links and errors have paths inside the subtree.
 *
 * The first operation that creates an entry also creates the directory. Until then, or if `path` contains a link, calls are `ENOWORKSPACE`.
 *
 * @throws WorkspaceError `EINVAL`, `EOUTSIDE`, `ENAMETOOLONG` for an invalid path.
 */
export function prefix(adapter: StorageAdapter, path: string, options: LayerOptions = {}): StorageAdapter {
  const { shared } = checkLayer('prefix', adapter, options)
  const root = parseMountPath(path, 'prefix')
  const rootBytes = root === '/' ? 0 : new TextEncoder().encode(root).length
  const { capabilities } = adapter
  const view = new Subtree(adapter, root)
  return wrapAdapter(adapter, {
    name: `prefix(${adapter.name})`,
    capabilities: Object.freeze({ ...capabilities, maxPathBytes: capabilities.maxPathBytes - rootBytes }),
    shared,
    toInner: (outer) => joinPath(root, outer),
    toOuter: (inner) => relativeTo(inner, root),
    call: (call, run) => view.run(call, run),
    iterate: (call) => ({
      before: () => view.enter(call),
      failure: async (error) => {
        throw await view.explain(error, call)
      },
    }),
    async readStream(call, run) {
      const { stat, stream } = await view.run(call, run)
      const failure = (error: unknown): never => {
        throw view.translate(error, call)
      }
      return { stat, stream: wrapIterator(stream, { failure }) }
    },
    write: (call, data, run) => view.run(call, () => run(isStream(data) ? view.remember(data) : data)),
    hostPath(call, run) {
      try {
        return run()
      } catch (error) {
        throw view.translate(error, call)
      }
    },
  })
}

class Subtree {
  readonly #inner: StorageAdapter
  readonly #root: MountPath
  /** Errors of the caller's body streams, whose paths are not translated. */
  readonly #foreign = new WeakSet()

  constructor(inner: StorageAdapter, root: MountPath) {
    this.#inner = inner
    this.#root = root
  }

  async run<Result>(call: Call, run: () => Promise<Result>): Promise<Result> {
    await this.enter(call)
    try {
      return await run()
    } catch (error) {
      if (!(await this.#madeRoot(error, call))) throw await this.explain(error, call)
      // the root was created as the requested directory
      if (call.operation === 'createDirectory' && call.path === '/') return undefined as Result
    }
    try {
      return await run()
    } catch (error) {
      throw this.translate(error, call)
    }
  }

  /** Checks the root before an operation: the inner adapter does not know which directory is the root. */
  async enter({ operation, path, destination }: Call): Promise<void> {
    if (this.#root === '/' || (path !== '/' && destination !== '/')) return
    // A change of the root is `EBUSY`. The inner adapter would treat the root like any directory.
    const onRoot = (path === '/' && factsOf(operation).replaces === true) || (destination === '/' && path !== '/')
    const link = operation === 'createSymlink'
    if (onRoot || link) {
      const code = this.#inner.capabilities.readOnly ? 'EROFS' : link ? 'EEXIST' : 'EBUSY'
      throw contractError(code, operation, '/')
    }
    if (!entering.has(operation)) return
    if ((await this.#rootState()) !== 'directory') throw gone(operation)
  }

  /** Creates a missing root. Returns false if the error has another cause. */
  async #madeRoot(error: unknown, { operation }: Call): Promise<boolean> {
    // An operation that creates an entry creates the root first.
    if (factsOf(operation).creates !== 'path' || !this.#isMissing(error)) return false
    if ((await this.#rootState()) !== 'missing') return false
    try {
      await this.#inner.createDirectory(this.#root, { recursive: true })
      return true
    } catch {
      return false // the caller reports the first failure
    }
  }

  /** Returns an error with paths of this subtree; `ENOWORKSPACE` if the root is missing. */
  async explain(error: unknown, call: Call): Promise<unknown> {
    if (this.#isMissing(error) && (await this.#rootState()) !== 'directory') return gone(call.operation)
    return this.translate(error, call)
  }

  translate(error: unknown, { operation }: Call): unknown {
    if (this.#root === '/' || (typeof error === 'object' && error !== null && this.#foreign.has(error))) return error
    if (error instanceof LinkSignal) {
      const { argument, at, target, rest } = error
      if (at === this.#root || !isWithin(at, this.#root)) return gone(operation)
      return new LinkSignal({ argument, at: relativeTo(at, this.#root), target, rest })
    }
    if (!isWorkspaceError(error)) return error
    const { path, reason, remedy, partial } = error
    return rewriteError(error, {
      path: path === undefined ? path : this.#outer(path),
      reason: this.#outerText(reason),
      remedy: remedy === undefined ? remedy : this.#outerText(remedy),
      partial: partial === undefined ? partial : this.#outerProgress(partial),
    })
  }

  async *remember(data: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* data
    } catch (error) {
      if (typeof error === 'object' && error !== null) this.#foreign.add(error)
      throw error
    }
  }

  #isMissing(error: unknown): boolean {
    if (!isWorkspaceError(error) || this.#foreign.has(error)) return false
    return error.code === 'ENOENT' || error.code === 'ENOTDIR'
  }

  async #rootState(): Promise<'directory' | 'missing' | 'other'> {
    try {
      const { type } = await this.#inner.stat(this.#root)
      return type === 'directory' ? 'directory' : 'other'
    } catch (error) {
      if (error instanceof LinkSignal || isWorkspaceError(error, 'ENOTDIR')) return 'other'
      if (isWorkspaceError(error, 'ENOENT')) return 'missing'
      throw this.translate(error, { operation: 'stat', path: this.#root })
    }
  }

  #outer(path: string): string {
    return isWithin(path as MountPath, this.#root) ? relativeTo(path as MountPath, this.#root) : '/'
  }

  /** Translates the paths in a sentence, which stand between backticks. */
  #outerText(text: string): string {
    return text.replaceAll(`\`${this.#root}\``, '`/`').replaceAll(`\`${this.#root}/`, '`/')
  }

  #outerProgress({ completed, completedCount, failedAt, state }: PartialProgress): PartialProgress {
    return {
      completed: completed.map((path) => this.#outer(path)),
      completedCount,
      failedAt: this.#outer(failedAt),
      state: this.#outerText(state),
    }
  }
}

function gone(operation: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ENOWORKSPACE',
    operation,
    path: '/',
    reason: 'is missing, is not a directory, or is reached by a symbolic link',
    remedy: 'make the directory, or write a file into it',
  })
}
