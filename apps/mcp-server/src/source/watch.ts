import { isWithin, parseVirtualPath } from '@ws/core'
import type { AccessEvent, Version, VirtualPath, Workspace } from '@ws/core'

/** Files that are watched at a time; of more, those that were asked for last. */
const maxWatched = 1_000

const changing: ReadonlySet<string> = new Set([
  'write',
  'append',
  'edit',
  'delete',
  'move',
  'copy',
  'createSymlink',
  'createDirectory',
  'chmod',
  'utimes',
])

type Listener = (path: string) => void

interface Watched {
  /** Where links lead. */
  real: string
  version: Version | undefined
}

/**
 * Tells of watched files that change through this workspace: by its file operations, which the audit reports, and by its
 * commands, after each of which the files are looked at. Changes by others are not noticed.
 */
export class Watch implements Disposable {
  readonly #workspace: Workspace
  readonly #watched = new Map<string, Watched>()
  readonly #listeners = new Set<Listener>()
  readonly #stop: () => void
  /** Paths to look at; all of them after a command. */
  readonly #suspects = new Set<string>()
  #looking = false

  constructor(workspace: Workspace) {
    this.#workspace = workspace
    this.#stop = workspace.on('access', (event) => this.#hear(event))
  }

  /** Hears of each watched path that changed, until the function that this returns is called. */
  on(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Watches a file from now on, whether it is there or not. */
  async add(path: string): Promise<void> {
    const state = this.#watched.get(path) ?? (await this.#stateOf(path))
    this.#watched.delete(path)
    this.#watched.set(path, state)
    const [oldest] = this.#watched.keys()
    if (this.#watched.size > maxWatched && oldest !== undefined) this.#watched.delete(oldest)
  }

  [Symbol.dispose](): void {
    this.#stop()
    this.#listeners.clear()
    this.#watched.clear()
  }

  #hear({ door, operation, outcome, path, resolvedPath }: AccessEvent): void {
    if (this.#watched.size === 0) return
    // an operation that failed half-way has changed something too
    if (door === 'files' && (outcome === 'denied' || !changing.has(operation))) return
    const place = resolvedPath ?? this.#normalised(path)
    const mayBeAnywhere = door === 'exec' || operation === 'move' || operation === 'copy' || place === undefined
    for (const [file, { real, version }] of this.#watched) {
      // a missing file has no real path yet
      if (mayBeAnywhere || version === undefined || isWithin(real as VirtualPath, place)) this.#suspects.add(file)
    }
    void this.#look()
  }

  #normalised(path: string): VirtualPath | undefined {
    try {
      return parseVirtualPath(path, { base: this.#workspace.root })
    } catch {
      return undefined
    }
  }

  /** One look at a time: what changes meanwhile is looked at again. */
  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    for (const path of this.#suspects) {
      this.#suspects.delete(path)
      const before = this.#watched.get(path)
      if (before === undefined) continue
      const now = await this.#stateOf(path)
      if (now.version === before.version && now.real === before.real) continue
      Object.assign(before, now)
      for (const listener of this.#listeners) listener(path)
    }
    this.#looking = false
  }

  /** A file that cannot be looked at counts as missing. */
  async #stateOf(path: string): Promise<Watched> {
    try {
      const real = await this.#workspace.realPath(path)
      const { version } = await this.#workspace.stat(real)
      return { real, version }
    } catch {
      return { real: path, version: undefined }
    }
  }
}
