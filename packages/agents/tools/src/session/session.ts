import { isWorkspaceError } from '@ws/core'
import { type Asked, showName } from '@ws/core/executor'
import type { RuleViolation, Stat, Version, VirtualPath, Workspace } from '@ws/core'
import { openDocuments } from '@ws/documents'

import type { JournalEntry, ToolsOptions } from '../types.ts'
import { HeldCalls } from './held-calls.ts'
import { openDownloads, type Downloads } from './downloads.ts'
import { KeptShell } from './kept-shell.ts'
import { resolveToolPath } from './paths.ts'
import { orAborted, PathQueue } from './queue.ts'

/** Limit of journal entries. The newest entries are kept. */
const longestJournal = 10_000
const mostSeen = 10_000

export interface SessionOptions {
  readonly maxContext: number
  readonly requireReadBeforeWrite: boolean
  readonly downloads: ToolsOptions['downloads']
  /** True if the toolset offers tools that run commands. */
  readonly commands: boolean
  readonly keepsShell: boolean
  /** True if calls of the face take versions. Answers then name the versions. */
  readonly versions: boolean
  readonly changes: ToolsOptions['changes']
  readonly decideWithin: number
}

export class Session {
  readonly workspace: Workspace
  readonly options: SessionOptions
  /** Background commands of this session by id, with the bytes of output already shown. */
  readonly background = new Map<string, number>()
  /** Reads PDFs and sources in its own threads, started on first use. */
  readonly documents = openDocuments()
  readonly downloads: Downloads | undefined
  readonly shell: KeptShell | undefined
  readonly held = new HeldCalls()
  readonly #closed = new AbortController()
  readonly #queue = new PathQueue()
  readonly #seen = new Map<string, Version>()
  #journal: JournalEntry[] = []
  #calls = 0
  /** Resolves when every call so far has a place in the queue. */
  #turn: Promise<void> = Promise.resolve()

  constructor(workspace: Workspace, options: SessionOptions) {
    this.workspace = workspace
    this.options = options
    this.downloads = openDownloads(workspace, options.downloads)
    this.shell = options.keepsShell ? new KeptShell() : undefined
  }

  /** Aborted when the toolset is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.documents.close()
    await this.downloads?.close()
    await this.held.close()
  }

  get journal(): readonly JournalEntry[] {
    return [...this.#journal]
  }

  begin(tool: string, signal: AbortSignal | undefined): Call {
    this.#calls += 1
    const call = new Call(this, { number: this.#calls, tool, signal, turn: this.#turn })
    this.#turn = this.#turn.then(() => call.passed)
    return call
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

  /** Forgets the versions of these paths and of all below: they were taken back. */
  forget(...paths: readonly string[]): void {
    for (const seen of this.#seen.keys())
      if (paths.some((path) => seen === path || seen.startsWith(`${path}/`))) this.#seen.delete(seen)
  }

  queue<Result>(
    paths: readonly string[],
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return this.#queue.run(paths, signal, work)
  }
}

export type Change = Omit<JournalEntry, 'call' | 'time' | 'tool'>

interface CallOptions {
  readonly number: number
  readonly tool: string
  readonly signal: AbortSignal | undefined
  /** Resolves when every earlier call has a place in the queue, or needs none. */
  readonly turn: Promise<void>
}

interface Hold {
  readonly workspace: Workspace
  readonly passed: PromiseWithResolvers<void>
}

const escapeNote =
  '`\\u{…}` in a name stands for one character; in a call, give the character itself, as JSON writes it: `\\u000a` for `\\u{a}`.'

export class Call {
  readonly session: Session
  readonly number: number
  readonly tool: string
  readonly signal: AbortSignal | undefined
  readonly notes: string[] = []

  readonly #turn: Promise<void>
  readonly #passed: PromiseWithResolvers<void>
  readonly #hold: Hold | undefined
  /** Refusals by rules in the results of commands. */
  readonly refusals: (Asked & { readonly kind?: RuleViolation['kind'] })[] = []
  /** The records of a held call. */
  readonly #records: JournalEntry[] = []

  constructor(session: Session, { number, tool, signal, turn }: CallOptions, hold?: Hold) {
    this.session = session
    this.number = number
    this.tool = tool
    this.signal = signal
    this.#turn = turn
    this.#hold = hold
    this.#passed = hold?.passed ?? Promise.withResolvers<void>()
  }

  /** The same call in the workspace of a try. */
  heldIn(workspace: Workspace): Call {
    const { session, number, tool, signal } = this
    return new Call(session, { number, tool, signal, turn: this.#turn }, { workspace, passed: this.#passed })
  }

  get isHeld(): boolean {
    return this.#hold !== undefined
  }

  /** Resolves when this call has a place in the queue, or needs none. */
  get passed(): Promise<void> {
    return this.#passed.promise
  }

  /** Lets later calls overtake this call, which waits for no path or has ended. */
  pass(): void {
    this.#passed.resolve()
  }

  get workspace(): Workspace {
    return this.#hold?.workspace ?? this.session.workspace
  }

  get maxCharacters(): number {
    return Math.floor(this.session.options.maxContext * 3.5 * 0.5)
  }

  /** The given text, which names a version; empty where no call of the face takes a version. */
  versioned(text: string): string {
    return this.session.options.versions ? text : ''
  }

  /** A name as an answer shows it. If the name is escaped, a note explains how to write the name in a call. */
  show(name: string): string {
    const shown = showName(name)
    if (shown !== name && !this.notes.includes(escapeNote)) this.notes.push(escapeNote)
    return shown
  }

  async resolve(operation: string, given: string): Promise<VirtualPath> {
    const { path, note } = await resolveToolPath(this.workspace, operation, given, this.signal)
    if (note !== undefined && !this.notes.includes(note)) this.notes.push(note)
    return path
  }

  /** Runs the work after earlier calls on these paths; calls queue in order of arrival. */
  async alone<Result>(paths: readonly string[], work: () => Promise<Result>): Promise<Result> {
    await orAborted(this.#turn, this.signal)
    const result = this.session.queue(paths, this.signal, work)
    this.pass()
    return result
  }

  record(change: Change): void {
    const entry = { call: this.number, time: Date.now(), tool: this.tool, ...change }
    if (this.isHeld) this.#records.push(entry)
    else this.session.record(entry)
  }

  /** Puts the records of a held call into the journal, except those of changes that were taken back. */
  keepRecords(isGone: (entry: JournalEntry) => boolean): void {
    for (const entry of this.#records) if (!isGone(entry)) this.session.record(entry)
  }

  async statBehindLinks(path: VirtualPath): Promise<Stat | undefined> {
    try {
      return await this.workspace.stat(path, { followLinks: true, signal: this.signal })
    } catch (error) {
      if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return undefined
      throw error
    }
  }
}
