import type { SignalOption } from '@ws/core/adapter'

export interface LeaseHolder {
  readonly name: string
  /** Milliseconds since the epoch, by the holder's clock. */
  readonly since: number
}

/** The reach of a lease: `server` all machines, `machine` all processes of this machine, `process` this process only. */
export type LeaseScope = 'server' | 'machine' | 'process'

/** The sole right to change a named thing, for as long as the lease is held. */
export interface Lease extends AsyncDisposable {
  readonly name: string
  readonly holder: LeaseHolder
  /** Is aborted with a `WorkspaceError` `ECLOSED` when the lease is lost. */
  readonly lost: AbortSignal
  /** True while no other process can have taken the lease. Only compares clocks, so it is cheap: call this before each change. */
  isHeld(): boolean
  /**
   * Queries the store after the lease's time ran out: `ECLOSED` when lost, `EBACKEND` without an answer. Absent if leases do not expire.
   */
  confirm?(options?: SignalOption): Promise<void>
  readonly notes: Readonly<Record<string, string>>
  writeNotes(notes: Readonly<Record<string, string>>, options?: SignalOption): Promise<void>
  /** Gives the lease back. Repeated calls do nothing. */
  release(): Promise<void>
}

/** Grants leases. Only one process at a time can have the lease of a name. */
export interface LeaseStore {
  readonly scope: LeaseScope
  /**
   * Takes the lease of a name: one or more names joined by `/`. `EBUSY` names the holder and the time of its acquisition.
   * The lease of a dead holder is free at once where the system shows the death, else after a TTL without renewal.
   */
  acquire(name: string, options?: AcquireOptions): Promise<Lease>
  holder(name: string, options?: SignalOption): Promise<LeaseHolder | undefined>
  close(): Promise<void>
}

export interface AcquireOptions extends SignalOption {
  /** Milliseconds to wait for the holder. Default 0: `EBUSY` at once. */
  readonly wait?: number | undefined
  /** Keep the lease while the store does not answer; `confirm` then rejects. Default false: the lease is lost after its TTL. */
  readonly patient?: boolean | undefined
}
