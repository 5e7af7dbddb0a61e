import type {
  AccessEvent,
  CommandDefaults,
  Rule,
  VirtualPath,
  Workspace,
  WorkspaceError,
  WorkspaceOptions,
} from '@ws/core'
import type { SignalOption, StorageAdapter } from '@ws/core/adapter'
import type { Executor, Guarantees, Requirement } from '@ws/core/executor'

import type { LayoutOptions } from './layout/layout.ts'
import type { LeaseHolder, LeaseScope, LeaseStore } from './lease/types.ts'
import type { LeftOut, ProvisionEvent, ThreadTemplate } from './provision/types.ts'
import type { ActivatedSkill, SkillList } from './skills/types.ts'

export interface ThreadsOptions {
  /**
   * The store of all threads: a directory, a bucket, an rclone mount, memory. An adapter stays its creator's to close; one
   * that a factory makes belongs to the threads.
   */
  readonly store: StorageAdapter | (() => StorageAdapter | Promise<StorageAdapter>)
  /**
   * Makes a copy of a part of the store on this machine, in which programs run: `createReplicaAdapter` of
   * `@ws/adapter-replica`. It is called for the tree of a thread that opens, and for the skills and tickets in use. The
   * copies belong to the threads. Default: commands see the store itself.
   */
  readonly replica?: ((part: ReplicatedPart) => StorageAdapter | Promise<StorageAdapter>) | undefined
  /** The place of a thread's tree: `/`, or such as `/workspace`. Skills and the ticket lie below it. Default `/`. */
  readonly at?: string | undefined
  /** Where the parts lie in the store. */
  readonly layout?: LayoutOptions | undefined
  /** As for `createWorkspace`. Default: none, commands are `ENOEXECUTOR`. */
  readonly executors?: readonly Executor[] | undefined
  readonly require?: Requirement | undefined
  readonly rules?: readonly Rule[] | undefined
  /** Defaults for commands. `HOME` is `at` and `USER` is `user`, unless `env` says otherwise. */
  readonly commands?: CommandDefaults | undefined
  /**
   * The leases that keep a thread to one writer. Default: leases in the store itself where it checks conditions (S3)
   * and on a local disk, in this process for memory. `none`: any process may write at any time; the default of a mount.
   * A store that checks no conditions is `EINVAL` without it.
   */
  readonly leases?: LeaseStore | 'none' | undefined
  /** Further files of new threads. */
  readonly template?: ThreadTemplate | undefined
  /**
   * Keeps earlier states of each thread's own tree, as the option of `createWorkspace` does: `createCheckpoints` of `@ws/snapshots`. On
   * memory they end when the thread is closed. Elsewhere they outlive it, and its deletion too: a thread that is made anew under the
   * same id has them. Default: none is kept.
   */
  readonly checkpoints?: WorkspaceOptions['checkpoints']
  /** Make the parts of new threads. Default true. */
  readonly provision?: boolean | undefined
  /** Milliseconds after which an unused thread is flushed and closed. Default 300,000; 0: at once. */
  readonly idleTimeout?: number | undefined
  /**
   * Threads open at a time. Default 200: after that, the thread that was idle longest is closed first, and `open` is `EBUSY` where none
   * is idle.
   */
  readonly maxOpen?: number | undefined
  /** Hears of a thread that was lost, or that could not be flushed, or not whole, when it was closed. */
  readonly onState?: ((event: ThreadEvent) => void) | undefined
  /** Hears each access to each thread once, from provisioning on, however many users the thread has. */
  readonly audit?: ((event: AccessEvent) => void) | undefined
  /** Hears of the parts of a thread as they are made. */
  readonly onProvision?: ((event: ProvisionEvent) => void) | undefined
}

/** A part of the store that gets a copy. */
export interface ReplicatedPart {
  /** The part alone. No request leaves once the lease is lost. */
  readonly store: StorageAdapter
  /** The thread whose tree it is. Absent for a tree that threads share, which is read-only in them. */
  readonly threadId?: string | undefined
}

/** A thread has left the state `open` otherwise than by `close`; or `incomplete`: it was closed, and `error` names entries that were not saved. */
export interface ThreadEvent {
  readonly threadId: string
  readonly state: 'lost' | 'unflushed' | 'incomplete'
  readonly error: WorkspaceError
}

export interface OpenThreadOptions extends SignalOption {
  readonly threadId: string
  readonly userId: string
  /** Its tree appears at `.ticket` in the thread's, read-only. */
  readonly ticketId?: string | undefined
  /** Milliseconds to wait for another process that holds the thread. Default 0: `EBUSY` at once. */
  readonly wait?: number | undefined
}

/** Why a part of a thread is not as it should be. */
export interface ThreadWarning {
  readonly path: VirtualPath
  /** To follow the path in a sentence. */
  readonly reason: string
}

export interface ThreadStatus {
  readonly threadId: string
  readonly userId: string
  readonly ticketId?: string | undefined
  /** `unflushed`: it was closed, its last changes are not in the store, and its lease is kept. */
  readonly state: 'open' | 'lost' | 'closed' | 'unflushed'
  /** Skills and tickets that could not be mounted: they are empty. */
  readonly warnings: readonly ThreadWarning[]
  readonly leftOut: readonly LeftOut[]
  /** How far the one writer is kept. */
  readonly writer: {
    readonly scope: LeaseScope | 'none'
    readonly holder?: LeaseHolder | undefined
    /** Cases that it does not cover, one sentence each. */
    readonly notes: readonly string[]
  }
  /** Something may have changed that is not in the store yet. Always false where a write is in the store at once. */
  readonly dirty: boolean
  /** Milliseconds since the epoch. Absent before the first. */
  readonly lastFlush?: number | undefined
  readonly executor?: { readonly name: string; readonly guarantees: Guarantees } | undefined
}

/** One use of an open thread. Several of one thread share its workspace. */
export interface Thread extends AsyncDisposable {
  readonly threadId: string
  readonly workspace: Workspace
  listSkills(options?: SignalOption): Promise<SkillList>
  /** The skills as a model's prompt shows them; empty when there are none. */
  formatCatalogue(options?: SignalOption): Promise<string>
  /** A skill with its body. Rejects with `ENOENT` for a name that is not in the list. */
  activate(name: string, options?: SignalOption): Promise<ActivatedSkill>
  status(): ThreadStatus
  /** When it resolves, everything written before is in the store for good. */
  flush(options?: SignalOption): Promise<void>
  /**
   * Ends this use. An `idleTimeout` of 0 closes the thread: `EBUSY` when that flush fails. `ENOTSUP` or `ECONFLICT` names entries that were
   * left out or kept twice: the thread is closed then. Twice is fine.
   */
  close(): Promise<void>
}

export interface DeletedThread {
  /** Files, directories and links. */
  readonly entries: number
  /** Bytes of the files, where the store reports sizes. */
  readonly bytes: number
}

export interface Threads extends AsyncDisposable {
  /**
   * Opens a thread, and makes it when it is new. Rejects with `EINVAL` for a wrong id, `EBUSY` while another process, or
   * another user, has it, `ENOENT` for a ticket that does not exist.
   */
  open(options: OpenThreadOptions): Promise<Thread>
  /** Ids of all threads of the store, in no particular order. */
  list(options?: SignalOption): AsyncIterableIterator<string>
  /** Deletes a thread's tree. With `dryRun` only counts. Rejects with `EBUSY` while it is open anywhere. */
  delete(threadId: string, options?: SignalOption & { readonly dryRun?: boolean | undefined }): Promise<DeletedThread>
  /** Copies a thread's tree to a new thread. Rejects with `EEXIST` when that exists. */
  copy(source: string, destination: string, options?: SignalOption): Promise<void>
  /** A thread's tree as a tar stream. */
  export(threadId: string, options?: SignalOption): AsyncIterable<Uint8Array>
  /** Makes a new thread of a tar stream. Rejects with `EEXIST` when it exists, `EINVAL` for an entry that cannot be taken. */
  import(threadId: string, archive: AsyncIterable<Uint8Array>, options?: SignalOption): Promise<void>
  /**
   * Flushes and closes every thread. Rejects when a flush fails: that thread keeps its lease, and a further call tries again. `ENOTSUP` and
   * `ECONFLICT` as for a thread: everything is closed then.
   */
  close(): Promise<void>
}
