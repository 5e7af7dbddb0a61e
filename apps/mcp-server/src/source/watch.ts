import { type AccessEvent, paths, type Version, type VirtualPath, type Workspace } from '@ws/core'
import { fileOperations, operations } from '@ws/core/adapter'
import { quietly } from '@ws/core/options'

import { MessageError } from '../messages/errors.ts'

/** Limit of watched files, since all are checked after each command. */
const maxWatched = 1_000

const changing: ReadonlySet<string> = new Set(['edit', ...fileOperations.filter((name) => operations[name].changes)])

type Listener = (path: string) => void

interface State {
  /** The resolved path. */
  readonly real: string
  readonly version: Version | undefined
}

interface Watched {
  state: State | undefined
  readonly ready: Promise<void>
  uses: number
}

/** Reports changes by this workspace's file API or commands. Does not notice changes by other programs. */
export class Watch implements Disposable {
  readonly #workspace: Workspace
  readonly #watched = new Map<string, Watched>()
  readonly #listeners = new Set<Listener>()
  readonly #stop: () => void
  /** Paths to check. After a command, these are all watched paths. */
  readonly #suspects = new Set<string>()
  #looking = false

  constructor(workspace: Workspace) {
    this.#workspace = workspace
    this.#stop = workspace.on('access', (event) => this.#hear(event))
  }

  /** Calls `listener` for each changed path until the returned function is called. */
  on(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Watches a file, which need not exist, until the returned function is called. @throws MessageError 503 for too many files */
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
    // an operation that failed may have changed files before its failure
    if (door === 'files' && (outcome === 'denied' || !changing.has(operation))) return
    const place = resolvedPath ?? this.#normalised(path)
    const mayBeAnywhere = door === 'exec' || operation === 'move' || operation === 'copy' || place === undefined
    for (const [file, { state }] of this.#watched) {
      // a missing file has no real path to compare
      const mayBeThis =
        mayBeAnywhere || state?.version === undefined || paths.isWithin(state.real as VirtualPath, place)
      if (mayBeThis) this.#suspects.add(file)
    }
    void this.#look()
  }

  #normalised(path: string): VirtualPath | undefined {
    try {
      return paths.parseVirtual(path, { base: this.#workspace.root })
    } catch {
      return undefined
    }
  }

  /** Checks suspects, in one run at a time. Checks again for changes during the run. Never rejects. */
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

  /** The state of a file. An unreadable file is treated as missing. */
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
