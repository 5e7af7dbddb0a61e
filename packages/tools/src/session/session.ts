import { isWorkspaceError } from '@ws/core'
import type { Stat, Version, VirtualPath, Workspace } from '@ws/core'

import type { JournalEntry } from '../types.ts'
import { resolveToolPath } from './paths.ts'
import { PathQueue } from './queue.ts'

/** Entries of the journal that are kept: the last ones. */
const longestJournal = 10_000
/** Paths whose read version is kept: the last ones. */
const mostSeen = 10_000

export interface SessionOptions {
  readonly maxContext: number
  readonly requireReadBeforeWrite: boolean
}

/** Everything that the calls of one toolset share. */
export class Session {
  readonly workspace: Workspace
  readonly options: SessionOptions
  /** Ids of the background commands that were started here, with the offsets up to which their output was told. */
  readonly background = new Map<string, { stdout: number; stderr: number }>()
  readonly #queue = new PathQueue()
  readonly #seen = new Map<string, Version>()
  #journal: JournalEntry[] = []
  #calls = 0

  constructor(workspace: Workspace, options: SessionOptions) {
    this.workspace = workspace
    this.options = options
  }

  get journal(): readonly JournalEntry[] {
    return [...this.#journal]
  }

  begin(tool: string, signal: AbortSignal | undefined): Call {
    this.#calls += 1
    return new Call(this, this.#calls, tool, signal)
  }

  record(entry: JournalEntry): void {
    this.#journal.push(entry)
    if (this.#journal.length > longestJournal * 1.1) this.#journal = this.#journal.slice(-longestJournal)
  }

  seen(path: string): Version | undefined {
    return this.#seen.get(path)
  }

  see(path: string, version: Version): void {
    this.#seen.delete(path)
    this.#seen.set(path, version)
    if (this.#seen.size <= mostSeen) return
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest)
      return
    }
  }

  queue<Result>(
    paths: readonly string[],
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return this.#queue.run(paths, signal, work)
  }
}

/** A change, without the fields that the call itself knows. */
export type Change = Omit<JournalEntry, 'call' | 'time' | 'tool'>

/** One call of a tool on its way. */
export class Call {
  readonly session: Session
  readonly number: number
  readonly tool: string
  readonly signal: AbortSignal | undefined
  /** Sentences for the end of the answer. */
  readonly notes: string[] = []

  constructor(session: Session, number: number, tool: string, signal: AbortSignal | undefined) {
    this.session = session
    this.number = number
    this.tool = tool
    this.signal = signal
  }

  get workspace(): Workspace {
    return this.session.workspace
  }

  /** Characters (UTF-16 units) of an answer's text at most [FS2]. */
  get maxCharacters(): number {
    return Math.floor(this.session.options.maxContext * 3.5 * 0.5)
  }

  async resolve(operation: string, given: string): Promise<VirtualPath> {
    const { path, note } = await resolveToolPath(this.workspace, operation, given, this.signal)
    if (note !== undefined && !this.notes.includes(note)) this.notes.push(note)
    return path
  }

  /** Runs the work when earlier calls on these paths have ended. */
  alone<Result>(paths: readonly string[], work: () => Promise<Result>): Promise<Result> {
    return this.session.queue(paths, this.signal, work)
  }

  record(change: Change): void {
    this.session.record({ call: this.number, time: Date.now(), tool: this.tool, ...change })
  }

  /** The status behind links; `undefined` where nothing is. */
  async statBehindLinks(path: VirtualPath): Promise<Stat | undefined> {
    try {
      const found = await this.workspace.stat(path, { signal: this.signal })
      if (found.type !== 'symlink') return found
      const { resolvedPath } = await this.workspace.explain({ operation: 'read', path })
      return await this.workspace.stat(resolvedPath, { signal: this.signal })
    } catch (error) {
      if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return undefined
      throw error
    }
  }
}
