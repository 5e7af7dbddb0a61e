import { isWorkspaceError } from '../errors.ts'
import type { AccessEvent, WorkspaceOptions } from '../contract/workspace.ts'

type Listener = (event: AccessEvent) => void

export interface Beginning {
  readonly time: number
  readonly ticks: number
}

/** The times and random names in a workspace's results. Deadlines and pauses use the machine's clock instead. */
export class Clock {
  readonly now: () => number
  readonly random: () => number
  readonly isGiven: boolean

  constructor({ now, random }: Pick<WorkspaceOptions, 'now' | 'random'>) {
    this.isGiven = now !== undefined
    this.now = now ?? (() => Date.now())
    this.random = random ?? (() => Math.random())
  }

  begin(): Beginning {
    const time = this.now()
    return { time, ticks: this.isGiven ? time : performance.now() }
  }

  since({ ticks }: Beginning): number {
    return (this.isGiven ? this.now() : performance.now()) - ticks
  }
}

export const clocks = new WeakMap<object, Clock>()

type Shared = Pick<AccessEvent, 'labels' | 'rehearsal' | 'granted'>

/** Reports every operation to listeners. Without listeners, a report costs nothing. */
export class Audit {
  readonly #listeners: Set<Listener>
  readonly #shared: Shared

  constructor(shared: Shared, listeners = new Set<Listener>()) {
    this.#shared = shared
    this.#listeners = listeners
  }

  /** An audit with the same listeners, and more in each event. */
  with(shared: Omit<Shared, 'labels'>): Audit {
    return new Audit({ ...this.#shared, ...shared }, this.#listeners)
  }

  get active(): boolean {
    return this.#listeners.size > 0
  }

  on(listener: Listener): () => void {
    // Wraps the listener: if one listener subscribes twice, each returned function removes only its own subscription.
    const own: Listener = (event) => listener(event)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  record(unlabelled: Omit<AccessEvent, 'labels'>): void {
    const event: AccessEvent = { ...this.#shared, ...unlabelled }
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch {
        // A failing audit must not change the caller's result.
      }
    }
  }
}

const denials: Readonly<Record<AccessEvent['door'], ReadonlySet<string>>> = {
  files: new Set(['EACCES', 'EROFS', 'EOUTSIDE', 'EBUSY', 'EUNENFORCEABLE']),
  // `EBUSY` is absent: for a command, this code means that a needed file keeps changing, or is in use.
  exec: new Set(['EACCES', 'EROFS', 'EOUTSIDE', 'EUNENFORCEABLE']),
}

/** Returns whether a rule or a mount refused a call, or the path left the workspace; see `outcome` of an audit event. */
export function isDenial(error: unknown, door: AccessEvent['door'] = 'files'): boolean {
  return isWorkspaceError(error) && denials[door].has(error.code)
}

export function outcomeOf(
  door: AccessEvent['door'],
  error: unknown,
  signal: AbortSignal | undefined,
): Pick<AccessEvent, 'outcome' | 'code' | 'rule'> {
  if (error === undefined) return { outcome: 'allowed' }
  if (signal?.aborted === true && error === signal.reason) return { outcome: 'aborted', code: 'ECANCELED' }
  if (!isWorkspaceError(error)) return { outcome: 'failed' }
  const { code, rule } = error
  return { outcome: isDenial(error, door) ? 'denied' : 'failed', code, rule }
}
