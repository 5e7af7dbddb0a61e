import type { SignalOption } from '@ws/core/adapter'

export interface LeaseHolder {
  /** For people: a host name and a process id, or the name that was given. */
  readonly name: string
  /** Milliseconds since the epoch, by the holder's clock. */
  readonly since: number
}

/** The reach of a lease: `server` all machines, `machine` all processes of this one, `process` this process only. */
export type LeaseScope = 'server' | 'machine' | 'process'

/** The sole right to change one thing, for as long as it is held. */
export interface Lease extends AsyncDisposable {
  readonly name: string
  readonly holder: LeaseHolder
  /** Aborts when the lease is lost; its reason is a `WorkspaceError` `ECLOSED`. */
  readonly lost: AbortSignal
  /** True while no other process can have taken it. Looks only at clocks: ask before each change. */
  isHeld(): boolean
  /**
   * Asks the store whether it is still held, once its time ran out. Rejects with `ECLOSED` when it is lost, `EBACKEND` without an
   * answer. Absent where no time ends a lease.
   */
  confirm?(options?: SignalOption): Promise<void>
  /** Notes that belong to what is leased, kept beside the lease. */
  readonly notes: Readonly<Record<string, string>>
  /** Replaces the notes. */
  writeNotes(notes: Readonly<Record<string, string>>, options?: SignalOption): Promise<void>
  /** Gives it back. Twice is fine. */
  release(): Promise<void>
}

/** Gives leases: the sole right to change a thing, held by one at a time. Threads use it; so can anything with a name. */
export interface LeaseStore {
  readonly scope: LeaseScope
  /**
   * Takes the lease of a name, which is one or more names joined by `/`.
   *
   * Rejects with `EBUSY` while another process holds it; the message names the holder, and since when. A dead holder is
   * succeeded: at once where the system shows that it died, else when its lease was seen unchanged for the whole TTL.
   */
  acquire(name: string, options?: AcquireOptions): Promise<Lease>
  /** The present holder, as far as can be seen. */
  holder(name: string, options?: SignalOption): Promise<LeaseHolder | undefined>
  /** Releases what the store itself holds. */
  close(): Promise<void>
}

export interface AcquireOptions extends SignalOption {
  /** Milliseconds to wait for the holder. Default 0: `EBUSY` at once. */
  readonly wait?: number | undefined
  /**
   * While the store gives no answer, the lease is kept and `confirm` rejects: for work that asks before each change. Default false: it
   * is lost then after its TTL.
   */
  readonly patient?: boolean | undefined
}
