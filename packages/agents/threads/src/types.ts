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
   * The store of all threads: a directory, a bucket, an rclone mount, memory. The caller closes an adapter that it passes;
   * `createThreads` closes an adapter that its factory makes.
   */
  readonly store: StorageAdapter | (() => StorageAdapter | Promise<StorageAdapter>)
  /**
   * Copies a part of the store to this machine, for programs to run in: `createReplicaAdapter` of `@ws/adapter-replica`.
   * `replica` is called for the tree of each opened thread, and for skills and tickets in use. Default: commands use the store itself.
   */
  readonly replica?: ((part: ReplicatedPart) => StorageAdapter | Promise<StorageAdapter>) | undefined
  /** The path of a thread's tree, such as `/workspace`. Skills and the ticket are below this path. Default `/`. */
  readonly at?: string | undefined
  readonly layout?: LayoutOptions | undefined
  /** Executors as for `createWorkspace`. Default: none; commands reject with `ENOEXECUTOR`. */
  readonly executors?: readonly Executor[] | undefined
  readonly require?: Requirement | undefined
  readonly rules?: readonly Rule[] | undefined
  /** Defaults for commands. `HOME` is `at` and `USER` is `user`, unless `env` says otherwise. */
  readonly commands?: CommandDefaults | undefined
  /**
   * The leases that limit a thread to one writer. `none` lets any process write at any time.
   * Default: in the store on S3 and local disks, in this process for memory, `none` for a mount.
   * A store that checks no conditions needs an explicit value, else `EINVAL`.
   */
  readonly leases?: LeaseStore | 'none' | undefined
  readonly template?: ThreadTemplate | undefined
  /**
   * Keeps earlier states of each thread's own tree: `createCheckpoints` of `@ws/snapshots`. Default: none.
   * States in memory end with the thread. Other states survive its deletion: a new thread with the same id has them again.
   */
  readonly checkpoints?: WorkspaceOptions['checkpoints']
  /** Make the parts of new threads. Default true. */
  readonly provision?: boolean | undefined
  /** Milliseconds after which an unused thread is flushed and closed. Default 300,000; 0: at once. */
  readonly idleTimeout?: number | undefined
  /** Limit of open threads. Default 200. At the limit, the longest idle thread is closed; without an idle thread, `open` is `EBUSY`. */
  readonly maxOpen?: number | undefined
  /** Called when a thread was lost, or when its last flush was incomplete. */
  readonly onState?: ((event: ThreadEvent) => void) | undefined
  /** Called once for each access to each thread, including provisioning. */
  readonly audit?: ((event: AccessEvent) => void) | undefined
  /** Called for each part of a thread when the part is made. */
  readonly onProvision?: ((event: ProvisionEvent) => void) | undefined
}

export interface ReplicatedPart {
  /** An adapter of the part alone. It sends no request once the lease is lost. */
  readonly store: StorageAdapter
  /** The thread that owns the tree. Absent for a tree that several threads share and only read. */
  readonly threadId?: string | undefined
}

/** `lost`: the lease is gone. `unflushed`: the last flush failed. `incomplete`: the thread closed, and `error` names unsaved entries. */
export interface ThreadEvent {
  readonly threadId: string
  readonly state: 'lost' | 'unflushed' | 'incomplete'
  readonly error: WorkspaceError
}

export interface OpenThreadOptions extends SignalOption {
  readonly threadId: string
  readonly userId: string
  /** The ticket's tree appears read-only at `.ticket` in the thread's tree. */
  readonly ticketId?: string | undefined
  /** Milliseconds to wait while another process has the thread. Default 0: `EBUSY` at once. */
  readonly wait?: number | undefined
}

export interface ThreadWarning {
  readonly path: VirtualPath
  /** A part of a sentence, printed after the path. */
  readonly reason: string
}

export interface ThreadStatus {
  readonly threadId: string
  readonly userId: string
  readonly ticketId?: string | undefined
  /** `unflushed`: the thread was closed, its last changes are not in the store, and its lease is kept. */
  readonly state: 'open' | 'lost' | 'closed' | 'unflushed'
  /** Skills and tickets that could not be mounted. Their directories are empty. */
  readonly warnings: readonly ThreadWarning[]
  readonly leftOut: readonly LeftOut[]
  /** How strictly the thread is kept to one writer. */
  readonly writer: {
    readonly scope: LeaseScope | 'none'
    readonly holder?: LeaseHolder | undefined
    /** Exceptions to the limit of one writer, one sentence each. */
    readonly notes: readonly string[]
  }
  /** True when changes may not be in the store yet. Always false where a write goes straight to the store. */
  readonly dirty: boolean
  /** Milliseconds since the epoch. Absent before the first flush. */
  readonly lastFlush?: number | undefined
  readonly executor?: { readonly name: string; readonly guarantees: Guarantees } | undefined
}

/** One use of an open thread. All uses of a thread share its workspace. */
export interface Thread extends AsyncDisposable {
  readonly threadId: string
  readonly workspace: Workspace
  listSkills(options?: SignalOption): Promise<SkillList>
  /** The skills in the form for a model's prompt; empty without skills. */
  formatCatalogue(options?: SignalOption): Promise<string>
  /** Returns a skill with its body. Rejects with `ENOENT` for an unknown name. */
  activate(name: string, options?: SignalOption): Promise<ActivatedSkill>
  status(): ThreadStatus
  /** Resolves when the store has saved all changes from before the call. */
  flush(options?: SignalOption): Promise<void>
  /**
   * Ends this use. Repeated calls do nothing. With `idleTimeout` 0 the thread is closed, and `EBUSY` means that the flush failed.
   * `ENOTSUP` and `ECONFLICT` name entries that were left out or kept twice; the thread is closed in both cases.
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
  /** Opens or creates a thread. Rejects with `EINVAL` for a bad id, `EBUSY` while in use elsewhere, `ENOENT` for a missing ticket. */
  open(options: OpenThreadOptions): Promise<Thread>
  /** Ids of all threads of the store, in no particular order. */
  list(options?: SignalOption): AsyncIterableIterator<string>
  /** Deletes a thread's tree; with `dryRun` only counts its entries. Rejects with `EBUSY` while the thread is open anywhere. */
  delete(threadId: string, options?: SignalOption & { readonly dryRun?: boolean | undefined }): Promise<DeletedThread>
  /** Copies a thread's tree to a new thread. Rejects with `EEXIST` when the destination exists. */
  copy(source: string, destination: string, options?: SignalOption): Promise<void>
  /** A thread's tree as a tar stream. */
  export(threadId: string, options?: SignalOption): AsyncIterable<Uint8Array>
  /** Makes a new thread from a tar stream. Rejects with `EEXIST` when the thread exists, `EINVAL` for an unsupported entry. */
  import(threadId: string, archive: AsyncIterable<Uint8Array>, options?: SignalOption): Promise<void>
  /**
   * Flushes and closes every thread. A failed flush rejects and keeps the lease; another call tries again.
   * `ENOTSUP` and `ECONFLICT` have the same meaning as for a thread: everything is then closed.
   */
  close(): Promise<void>
}
