import type { Version } from '@ws/core'
import type { Attributes } from '../headers/attributes.ts'
import type { ObjectState } from '../headers/stat.ts'

const capacity = 2_000

/** The last state that was seen or made at a key. */
export interface KnownState {
  readonly version: Version
  /** Ids of the writes that led to this state, the latest first. */
  readonly writes: readonly string[]
  readonly attributes: Attributes
  /** The store's time of the change, if reported, in milliseconds since the epoch. */
  readonly changedAt?: number | undefined
  /** When the state was seen, by `performance.now()`. */
  readonly at: number
}

/** The writes that led to the seen states. After a lost answer, a writer can find its id among them. */
export class WriteHistory {
  readonly #states = new Map<string, readonly string[]>()
  readonly #latest = new Map<string, KnownState | 'absent'>()
  readonly #ids = new Map<string, number>()

  note(key: string, { version, writes, attributes, changedAt }: Omit<KnownState, 'at'>): void {
    const at = performance.now()
    keep(this.#latest, key, { version, writes, attributes, changedAt, at })
    const [id] = writes
    if (id === undefined) {
      this.#states.delete(stateOf(key, version))
      return
    }
    keep(this.#states, stateOf(key, version), writes)
    if (!this.#ids.has(stateOf(key, id))) keep(this.#ids, stateOf(key, id), at)
  }

  noteState(key: string, { stat, metadata, attributes, headers }: ObjectState): void {
    const changedAt = headers.LastModified?.getTime()
    this.note(key, { version: stat.version, writes: metadata.writes, attributes, changedAt })
  }

  noteAbsent(key: string): void {
    keep(this.#latest, key, 'absent')
  }

  latest(key: string): KnownState | 'absent' | undefined {
    return this.#latest.get(key)
  }

  before(key: string, version: Version): readonly string[] {
    return this.#states.get(stateOf(key, version)) ?? []
  }

  /** Whether a write's id had been seen at the key before a time. */
  knewBefore(key: string, id: string, time: number): boolean {
    const at = this.#ids.get(stateOf(key, id))
    return at !== undefined && at < time
  }
}

function keep<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name)
  map.set(name, value)
  if (map.size <= capacity) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}

function stateOf(key: string, version: Version): string {
  return `${version} ${key}`
}
