import { isWithin, parseVirtualPath } from '@ws/core'
import type { AccessEvent, Version, VirtualPath, Workspace } from '@ws/core'
import { fileOperations, operations } from '@ws/core/adapter'
import { quietly } from '@ws/core/options'

import { MessageError } from '../messages/errors.ts'

/** Files that are watched at a time. Each of them is looked at after each command. */
const maxWatched = 1_000

const changing: ReadonlySet<string> = new Set(['edit', ...fileOperations.filter((name) => operations[name].changes)])

type Listener = (path: string) => void

interface State {
  /** Where links lead. */
  readonly real: string
  readonly version: Version | undefined
}

interface Watched {
  /** `undefined` until it was looked at first. */
  state: State | undefined
  readonly ready: Promise<void>
  /** Streams that watch it. */
  uses: number
}

/** Reports watched files that the file API or a command of this workspace changes. Changes by others are not noticed. */
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

  /** Watches a file, there or not, until the returned function is called. @throws MessageError 503 for too many files */
  async add(path: string): Promise<() => void> {
    const watched = this.#watched.get(path) ?? this.#begin(path)
    watched.uses += 1
    await watched.ready
    return () => {
      watched.uses -= 1
      if (watched.uses === 0 && this.#watched.get(path) === watched) this.#watched.delete(path)
    }
  }

  #begin(path: string): Watched {
    if (this.#watched.size >= maxWatched) {
      throw new MessageError(503, `the server is busy: ${maxWatched} files of this workspace are watched`)
    }
    const look = async (): Promise<void> => {
      watched.state = await this.#stateOf(path)
    }
    const watched: Watched = { state: undefined, ready: Promise.resolve().then(look), uses: 0 }
    this.#watched.set(path, watched)
    return watched
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
    for (const [file, { state }] of this.#watched) {
      // a missing file has no real path yet
      const mayBeThis = mayBeAnywhere || state?.version === undefined || isWithin(state.real as VirtualPath, place)
      if (mayBeThis) this.#suspects.add(file)
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

  /** One look at a time: what changes meanwhile is looked at again. Never rejects. */
  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    for (const path of this.#suspects) {
      this.#suspects.delete(path)
      const watched = this.#watched.get(path)
      await watched?.ready
      const before = watched?.state
      if (watched === undefined || before === undefined) continue
      const now = await this.#stateOf(path)
      if (now.version === before.version && now.real === before.real) continue
      watched.state = now
      for (const listener of this.#listeners) quietly(listener)(path)
    }
    this.#looking = false
  }

  /** A file that cannot be looked at counts as missing. */
  async #stateOf(path: string): Promise<State> {
    try {
      const real = await this.#workspace.realPath(path)
      const { version } = await this.#workspace.stat(real)
      return { real, version }
    } catch {
      return { real: path, version: undefined }
    }
  }
}
