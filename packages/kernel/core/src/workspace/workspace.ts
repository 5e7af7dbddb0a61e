import type {
  AppendOptions,
  CopyOptions,
  DeleteOptions,
  ForkOptions,
  MoveOptions,
  ReadResult,
  ReadStreamResult,
  SignalOption,
  Stat,
  Times,
  TransferResult,
  WriteResult,
} from '../contract/file-types.ts'
import { Pace } from '../adapter/pace.ts'
import { clocks } from '../calls/audit.ts'
import type { CommandResult, RunningCommand } from '../contract/executor.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { exec, spawn } from '../commands/commands.ts'
import { admitCall } from '../calls/context.ts'
import type { Attempt, Context } from '../calls/context.ts'
import type { ChosenExecutor } from '../commands/enforcement.ts'
import { virtualError } from '../mount/errors.ts'
import { explain } from '../commands/explain.ts'
import { connectionsOf } from '../commands/explain-connection.ts'
import { Ports } from '../commands/publishing.ts'
import type {
  EditFunction,
  EditOptions,
  EditResult,
  ReadLinesOptions,
  ReadLinesResult,
  TextEdit,
  WorkspaceCreateDirectoryOptions,
  WorkspaceEntry,
  WorkspaceGlobOptions,
  WorkspaceListOptions,
  WorkspaceReadOptions,
  WorkspaceReadStreamOptions,
  WorkspaceSearchHit,
  WorkspaceSearchOptions,
  WorkspaceStatOptions,
  WorkspaceWriteData,
  WorkspaceWriteOptions,
} from '../contract/file-door.ts'
import { append } from '../files/appending.ts'
import { chmod, utimes } from '../files/attributes.ts'
import { edit } from '../files/edit.ts'
import { glob } from '../files/glob.ts'
import { list } from '../files/listing.ts'
import { beginCommand, type CommandDoor } from '../commands/admission.ts'
import { checkMethod } from '../calls/method-options.ts'
import { createMountPoints } from '../mount/mount-points.ts'
import { exists, read, readLines, readStream, readSymlink, readText, realPath, stat } from '../files/reading.ts'
import type { Scratch } from '../mount/scratch.ts'
import type { Writers } from '../mount/writers.ts'
import { LiveWork } from '../commands/sessions/live-work.ts'
import type { BackgroundCommand, BackgroundOptions, OpenSessionOptions, Session } from '../contract/sessions.ts'
import type { ListeningPort, PublishedPort, PublishOptions } from '../contract/publishing.ts'
import type { Try, TryOptions } from '../contract/tries.ts'
import type { MergeOptions, MergeResult } from '../contract/forks.ts'
import { fork, type ForkSide } from '../checkpoints/fork.ts'
import type { TryView } from '../checkpoints/one-try.ts'
import { merge, type MergeSide } from '../checkpoints/merge.ts'
import { askedAt, gateWithGrants } from '../mount/grants.ts'
import { Walker } from '../mount/walk.ts'
import type { Asked } from '../contract/policy.ts'
import { search } from '../files/searching.ts'
import { copy, move } from '../files/transfer.ts'
import type {
  Command,
  Connections,
  ConnectionsOptions,
  ExecOptions,
  ExplainRequest,
  Explanation,
  MountInfo,
  Workspace,
  WorkspaceEvents,
} from '../contract/workspace.ts'
import type { WatchEvent, WatchOptions } from '../contract/watching.ts'
import { beginTry } from '../commands/begin-try.ts'
import { LiveCheckpoints } from '../checkpoints/door.ts'
import type { CheckpointParts } from '../checkpoints/door.ts'
import type {
  Change,
  ChangesOptions,
  Checkpoint,
  CheckpointOptions,
  DiffOptions,
  RestoreOptions,
  RestoreResult,
} from '../contract/checkpoints.ts'
import { createDirectory, createSymlink, remove, write } from '../files/writing.ts'

export interface LiveWorkspaceOptions {
  readonly context: Context
  readonly scratch: Scratch
  readonly checkpoints: CheckpointParts | undefined
  /** Absent for a view. */
  readonly writers?: Writers | undefined
  /** Absent for a view. */
  readonly again?: ForkSide<LiveWorkspace>['again'] | undefined
}

/** Returns a view of the workspace with `rehearsal` events. Do not close the view. Returns workspaces of other classes unchanged. */
export function rehearsing(workspace: Workspace): Workspace {
  return workspace instanceof LiveWorkspace ? workspace.rehearsing() : workspace
}

/**
 * Returns a view of the workspace for one call, in which the rules that ask do not apply to these places. Its commands are commands of the
 * workspace. Do not close the view. Returns workspaces of other classes unchanged.
 */
export function granting(workspace: Workspace, places: readonly Asked[]): Workspace {
  return workspace instanceof LiveWorkspace && places.length > 0 ? workspace.granting(places) : workspace
}

/** Returns those of some refusals that are by rules that ask, each with the place that a grant opens: the match of a pattern, or a host. */
export function askedIn(workspace: Workspace, refusals: readonly Asked[]): readonly Asked[] {
  return workspace instanceof LiveWorkspace ? workspace.askedIn(refusals) : []
}

export class LiveWorkspace implements Workspace {
  readonly #context: Context
  readonly #scratch: Scratch
  #running = new Set<RunningCommand>()
  readonly #checkpoints: LiveCheckpoints
  readonly #parts: CheckpointParts | undefined
  readonly #writers: Writers | undefined
  #tries = new Set<Pick<Attempt, 'close'>>()
  readonly #again: LiveWorkspaceOptions['again']
  #work = new LiveWork(() => this.#door)
  readonly #ports = new Ports(() => this.#door)
  #executor: ChosenExecutor | undefined
  #closing: Promise<void> | undefined
  droppedTry: RestoreResult | undefined

  constructor({ context, scratch, checkpoints: parts, writers, again }: LiveWorkspaceOptions) {
    this.#context = context
    clocks.set(this, context.clock)
    this.#scratch = scratch
    this.#parts = parts
    this.#writers = writers
    this.#again = again
    this.#checkpoints = new LiveCheckpoints({ context, parts, busy: () => this.#busy() })
  }

  get chosen(): ChosenExecutor | undefined {
    return this.#executor
  }

  use(executor: ChosenExecutor): void {
    this.#executor = executor
  }

  rehearsing(): Workspace {
    const view = this.#view({ audit: this.#context.audit.with({ rehearsal: true }) })
    view.#executor = this.#executor
    return view
  }

  /** The file API for interpreters. */
  ofCommands(): Workspace {
    return this.#view({ isOfCommands: true })
  }

  granting(places: readonly Asked[]): Workspace {
    const { gate: whole, aliases, open } = this.#context
    const gate = gateWithGrants(whole, places)
    const audit = this.#context.audit.with({ granted: places })
    const view = this.#view({ gate, audit, walker: new Walker(gate, aliases, open) }, this.#parts, this.#writers)
    view.#executor = this.#executor
    view.#running = this.#running
    view.#tries = this.#tries
    view.#work = this.#work // sessions and commands in the background get no grant
    return view
  }

  askedIn(refusals: readonly Asked[]): readonly Asked[] {
    return askedAt(this.#context.gate, refusals)
  }

  #view(changed: Partial<Context>, checkpoints?: CheckpointParts, writers?: Writers): LiveWorkspace {
    return new LiveWorkspace({
      context: { ...this.#context, ...changed },
      scratch: this.#scratch,
      checkpoints,
      writers,
    })
  }

  get root(): VirtualPath {
    return this.#context.root
  }

  get mounts(): readonly MountInfo[] {
    return this.#context.mounts
      .filter(({ scratch }) => !scratch)
      .map(({ at, adapter, access }) => ({ at, adapter: adapter?.name ?? 'scratch', access }))
  }

  get keepsCheckpoints(): boolean {
    return this.#checkpoints.isKept
  }

  get executor(): Workspace['executor'] {
    const chosen = this.#executor
    if (chosen === undefined) return undefined
    const { guarantees, lacks, loopback } = chosen.attached
    const shares = loopback !== undefined && ({ sharesLoopback: true } as const)
    return { name: chosen.name, guarantees, ...(lacks !== undefined && { lacks }), ...shares }
  }

  get #door(): CommandDoor {
    const context = this.#context
    return {
      context,
      executor: this.#executor,
      running: this.#running,
      files: context.gate.grants.length > 0 ? this.ofCommands() : undefined,
      prepare: async () => {
        for (const mount of context.mounts) if (mount.adapter === undefined) await context.open(mount)
        await createMountPoints(context.mounts, 'exec')
      },
      begin: (options) => beginCommand(context.mounts, options),
      sync: () => this.#syncAll({}),
      checkpoints: this.#checkpoints,
    }
  }

  stat(path: string, options?: WorkspaceStatOptions): Promise<Stat> {
    return stat(this.#context, path, options)
  }

  exists(path: string, options?: WorkspaceStatOptions): Promise<boolean> {
    return exists(this.#context, path, options)
  }

  realPath(path: string, options?: SignalOption): Promise<VirtualPath> {
    return realPath(this.#context, path, options)
  }

  read(path: string, options?: WorkspaceReadOptions): Promise<ReadResult> {
    return read(this.#context, path, options)
  }

  readText(path: string, options?: WorkspaceReadOptions): Promise<string> {
    return readText(this.#context, path, options)
  }

  readStream(path: string, options?: WorkspaceReadStreamOptions): Promise<ReadStreamResult> {
    return readStream(this.#context, path, options)
  }

  readLines(path: string, options?: ReadLinesOptions): Promise<ReadLinesResult> {
    return readLines(this.#context, path, options)
  }

  readSymlink(path: string, options?: SignalOption): Promise<string> {
    return readSymlink(this.#context, path, options)
  }

  write(path: string, data: WorkspaceWriteData, options?: WorkspaceWriteOptions): Promise<WriteResult> {
    return write(this.#context, path, data, options)
  }

  append(path: string, data: WorkspaceWriteData, options?: AppendOptions): Promise<WriteResult> {
    return append(this.#context, path, data, options)
  }

  edit(path: string, edits: TextEdit | readonly TextEdit[] | EditFunction, options?: EditOptions): Promise<EditResult> {
    return edit(this.#context, path, edits, options)
  }

  list(path?: string, options?: WorkspaceListOptions): AsyncIterableIterator<WorkspaceEntry> {
    return list(this.#context, path, options)
  }

  createDirectory(path: string, options?: WorkspaceCreateDirectoryOptions): Promise<void> {
    return createDirectory(this.#context, path, options)
  }

  createSymlink(path: string, target: string, options?: SignalOption): Promise<void> {
    return createSymlink(this.#context, path, target, options)
  }

  chmod(path: string, mode: number, options?: SignalOption): Promise<void> {
    return chmod(this.#context, path, mode, options)
  }

  utimes(path: string, times: Times, options?: SignalOption): Promise<void> {
    return utimes(this.#context, path, times, options)
  }

  delete(path: string, options?: DeleteOptions): Promise<void> {
    return remove(this.#context, path, options)
  }

  move(source: string, destination: string, options?: MoveOptions): Promise<TransferResult> {
    return move(this.#context, source, destination, options)
  }

  copy(source: string, destination: string, options?: CopyOptions): Promise<TransferResult> {
    return copy(this.#context, source, destination, options)
  }

  glob(patterns: string | readonly string[], options?: WorkspaceGlobOptions): AsyncIterableIterator<WorkspaceEntry> {
    return glob(this.#context, patterns, options)
  }

  search(pattern: string, options?: WorkspaceSearchOptions): AsyncIterableIterator<WorkspaceSearchHit> {
    return search(this.#context, pattern, options)
  }

  async watch(
    paths: string | readonly string[],
    options?: WatchOptions,
  ): Promise<AsyncIterableIterator<WatchEvent, undefined>> {
    const { watch } = await import('../watch/watch.ts')
    return watch(this.#context, paths, options)
  }

  exec(command: Command, options?: ExecOptions): Promise<CommandResult> {
    return exec(this.#door, command, options)
  }

  spawn(command: Command, options?: ExecOptions): Promise<RunningCommand> {
    return spawn(this.#door, command, options)
  }

  openSession(options?: OpenSessionOptions): Promise<Session> {
    return this.#work.openSession(options)
  }

  sessions(): readonly Session[] {
    return this.#work.sessions()
  }

  session(id: string): Session {
    return this.#work.session(id)
  }

  start(command: Command, options?: BackgroundOptions): Promise<BackgroundCommand> {
    return this.#work.start(command, options)
  }

  commands(): readonly BackgroundCommand[] {
    return this.#work.commands()
  }

  command(id: string): BackgroundCommand {
    return this.#work.command(id)
  }

  ports(): Promise<readonly ListeningPort[]> {
    return this.#ports.ports()
  }

  publish(port: number, options?: PublishOptions): Promise<PublishedPort> {
    return this.#ports.publish(port, options)
  }

  unpublish(port: number): Promise<void> {
    return this.#ports.unpublish(port)
  }

  checkpoint(options?: CheckpointOptions): Promise<Checkpoint> {
    return this.#checkpoints.checkpoint(options)
  }

  checkpoints(): Promise<readonly Checkpoint[]> {
    return this.#checkpoints.checkpoints()
  }

  changes(options?: ChangesOptions): Promise<readonly Change[]> {
    return this.#checkpoints.changes(options)
  }

  diff(options?: DiffOptions): Promise<string> {
    return this.#checkpoints.diff(options)
  }

  restore(checkpoint: string, options?: RestoreOptions): Promise<RestoreResult> {
    return this.#checkpoints.restore(checkpoint, options)
  }

  try<Result>(
    given: Command | ((workspace: Workspace) => Promise<unknown>),
    options?: TryOptions,
  ): Promise<Try<Result>> {
    return beginTry(
      {
        context: this.#context,
        parts: this.#parts,
        executor: this.#executor,
        busy: this.#busy(),
        hasOtherWriter: this.#writers?.hasOther() === true,
        viewOf: (attempt) => this.#tryView(attempt),
        fork: async (signal) => {
          const made = await this.fork({ signal })
          const merged = (paths: readonly string[] | undefined) => this.merge(made, { paths })
          return { fork: made, viewOf: (attempt) => made.#tryView(attempt), merge: merged }
        },
        tries: this.#tries,
      },
      given,
      options,
    ) as Promise<Try<Result>>
  }

  #tryView(attempt: Attempt): TryView {
    const workspace = this.#view({ attempt }, this.#parts)
    workspace.#executor = this.#executor
    return { workspace, end: (waits) => workspace.#endWork(waits) }
  }

  get forkedFrom(): string | undefined {
    return this.#parts?.attached.forkedFrom
  }

  fork(options?: ForkOptions): Promise<LiveWorkspace> {
    return fork({ ...this.#side, busy: this.#busy(), again: this.#again }, options)
  }

  merge(other: Workspace, options?: MergeOptions): Promise<MergeResult> {
    return merge(this.#side, other instanceof LiveWorkspace ? other.#side : undefined, options)
  }

  get #side(): MergeSide {
    return { context: this.#context, parts: this.#parts, busy: () => this.#busy() }
  }

  /** Ends all commands and sessions of a try's view. */
  async #endWork(waits: boolean): Promise<void> {
    const { calls, starting } = this.#context.state
    await this.#ports.close()
    for (;;) {
      await new Pace().rest() // a command that has just started is noted by then
      await this.#endRunning()
      const pending = [...starting, ...(waits ? calls.open : [])]
      if (pending.length === 0) return
      await Promise.allSettled(pending)
    }
  }

  async #endRunning(): Promise<void> {
    await this.#work.close()
    for (const running of [...this.#running]) {
      running.kill('SIGKILL')
      await running.wait().catch(() => undefined) // the result of a killed command does not matter
    }
  }

  /** Returns the ids of all commands and sessions that may still write; for a command without an id, its line. */
  #busy(): readonly string[] {
    const named = [...this.#work.sessions(), ...this.#work.commands().filter(({ running }) => running)]
    const ids = named.map(({ id }) => id)
    const others = this.#running.size + this.#work.sessions().length - ids.length
    return others > 0 ? [...ids, `${others} without an id`] : ids
  }

  explain(request: ExplainRequest): Promise<Explanation> {
    return explain(this.#door, request)
  }

  connections(options?: ConnectionsOptions): Connections {
    return connectionsOf(this.#door, options)
  }

  on<Name extends keyof WorkspaceEvents>(name: Name, listener: WorkspaceEvents[Name]): () => void {
    if (name !== 'access' || typeof listener !== 'function') {
      throw virtualError({
        code: 'EINVAL',
        operation: 'on',
        reason: 'there is only the event `access`, and it needs a function',
        remedy: 'call `on("access", (event) => …)`',
      })
    }
    return this.#context.audit.on(listener)
  }

  async flush(options: SignalOption = {}): Promise<void> {
    checkMethod('signal', 'flush', options)
    admitCall(this.#context, 'flush', options.signal)
    await this.#syncAll(options)
  }

  /** Syncs the stores and the disks of this machine. */
  async #syncAll(options: SignalOption): Promise<void> {
    await this.#flushAll(options)
    for (const { adapter, scratch } of this.#context.mounts) if (!scratch) await adapter?.sync?.(options)
  }

  async #flushAll(options: SignalOption): Promise<void> {
    for (const { adapter, scratch } of this.#context.mounts) if (!scratch) await adapter?.flush?.(options)
  }

  close(): Promise<void> {
    this.#closing ??= this.#context.attempt === undefined ? this.#close() : this.#endWork(false)
    return this.#closing
  }

  /** Closes the workspace. Tries every step, and throws the first failure at the end. */
  async #close(): Promise<void> {
    this.#context.state.isClosed = true
    for (const watch of this.#context.state.watches) watch.end()
    const failures: unknown[] = []
    const attempt = async (step: () => Promise<unknown> | undefined): Promise<void> => {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    await attempt(() => this.#ports.close())
    await this.#endRunning()
    await attempt(() => this.#executor?.attached.close())
    for (const one of [this.#context.state.attempt, ...this.#tries]) await attempt(() => one?.close())
    await attempt(() => this.#flushAll({}))
    await attempt(() => this.#checkpoints.close())
    await attempt(() => this.#scratch.close())
    for (const { adapter, owned } of this.#context.mounts) if (owned) await attempt(() => adapter?.close())
    this.#writers?.leave()
    if (failures.length > 0) throw failures[0]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
