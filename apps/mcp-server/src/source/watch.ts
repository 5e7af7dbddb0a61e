import { isWorkspaceError, type Workspace } from '@ws/core'
import { quietly } from '@ws/core/options'

import { MessageError } from '../messages/errors.ts'

/** Limit of watched files. */
const maxWatched = 1_000

type Listener = (path: string) => void

interface Watched {
  /** Ends the watch. Rejects if it could not begin. */
  readonly begun: Promise<() => void>
  uses: number
}

/** Reports changes of files, by anybody. */
export class Watch implements Disposable {
  readonly #workspace: Workspace
  readonly #watched = new Map<string, Watched>()
  readonly #listeners = new Set<Listener>()

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  /** Calls `listener` for each changed path until the returned function is called. */
  on(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Watches a file, which need not exist, until the returned function is called. @throws MessageError 503 for too many files */
  async add(path: string): Promise<() => void> {
    if (!this.#watched.has(path) && this.#watched.size >= maxWatched) {
      throw new MessageError(503, `the server is busy: ${maxWatched} files of this workspace are watched`)
    }
    const watched = this.#watched.get(path) ?? { begun: this.#begin(path), uses: 0 }
    this.#watched.set(path, watched)
    watched.uses += 1
    const leave = (): void => {
      watched.uses -= 1
      if (watched.uses > 0) return
      if (this.#watched.get(path) === watched) this.#watched.delete(path)
      watched.begun.then(
        (end) => end(),
        () => undefined, // the callers of `add` got the error
      )
    }
    try {
      await watched.begun
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }

  async #begin(path: string): Promise<() => void> {
    try {
      const events = await this.#workspace.watch(path, { recursive: false })
      void this.#follow(path, events)
      return () => void events.return?.().catch(() => undefined) // it only ends the iteration
    } catch (error) {
      if (isWorkspaceError(error, 'EFBIG'))
        throw new MessageError(503, 'the server is busy: the watched directories hold too many entries')
      if (isWorkspaceError(error)) return () => undefined // for clients, a file that they cannot read never changes
      throw error
    }
  }

  /** Never rejects. */
  async #follow(path: string, events: AsyncIterable<unknown>): Promise<void> {
    try {
      for await (const _ of events) for (const listener of this.#listeners) quietly(listener)(path)
    } catch {
      for (const listener of this.#listeners) quietly(listener)(path) // later changes are not told: the client looks once more
    }
  }

  [Symbol.dispose](): void {
    this.#listeners.clear()
    for (const { begun } of this.#watched.values())
      begun.then(
        (end) => end(),
        () => undefined, // the callers of `add` got the error
      )
    this.#watched.clear()
  }
}
