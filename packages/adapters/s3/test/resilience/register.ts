import { appended } from './content.ts'
import type { FileState } from './known-files.ts'

/** One operation on one file, as its caller saw it. Contents are ids that are never used twice. */
export interface Event {
  readonly client: number
  /** Milliseconds; before the call and after its end. */
  readonly start: number
  readonly end: number
  readonly operation: string
  /** The state in which it acts; absent: it acts in any case. */
  readonly condition?: FileState
  /** The state that it puts there; absent: it only looks, or appends. */
  readonly value?: FileState
  /** The id that it appends. */
  readonly appends?: number
  /** Its condition holds where nothing is, too: then it does nothing. */
  readonly orAbsent?: boolean
  /**
   * - `done`: it acted, or for a look: `seen` was there.
   * - `refused`: its condition did not hold; for a delete without one, nothing was there.
   * - `unknown`: it acted once, at any time, or never.
   */
  readonly outcome: 'done' | 'refused' | 'unknown'
  /** A listing sees that something is there. */
  readonly seen?: FileState | 'something'
}

interface Step {
  readonly state: FileState
  /** Indexes of what has happened. */
  readonly done: ReadonlySet<number>
  /** How many of them were certain. */
  readonly count: number
}

/**
 * Whether there is an order in which all events happened one at a time, each between its start and its end: then
 * nothing was lost, done twice, refused without a reason or reported falsely (linearizability of one register, after
 * Wing and Gong). An event of unknown outcome happens as late as it can: right before an event that could not happen
 * without it.
 *
 * Returns the events that no order explains, with those around them; none when all is well.
 */
export function unexplained(events: readonly Event[]): readonly Event[] {
  const sorted = events
    .filter((event) => event.outcome !== 'unknown' || changes(event))
    .toSorted((a, b) => a.start - b.start)
  const certain = sorted.filter(({ outcome }) => outcome !== 'unknown').length
  const observed = new Set(sorted.flatMap(({ seen, condition }) => [...beginningsOf(seen), ...beginningsOf(condition)]))
  const tried = new Set<string>()
  let [furthest, stuck] = [-1, 0]
  const stack: Step[] = [{ state: 'absent', done: new Set(), count: 0 }]
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    const { state, done, count } = step
    if (count === certain) return []
    const { first, indexes } = openEvents(sorted, done)
    const ahead = [...done].filter((index) => index > first || sorted[index]?.outcome === 'unknown')
    const name = `${state} ${first} ${ahead.toSorted((a, b) => a - b).join()}`
    if (tried.has(name)) continue
    tried.add(name)
    if (count > furthest) [furthest, stuck] = [count, first]
    for (const index of indexes) {
      const event = sorted[index]
      if (event === undefined || event.outcome === 'unknown') continue
      for (const { next, used } of waysTo(event, state, { sorted, open: indexes, observed })) {
        stack.push({ state: next, done: new Set([...done, ...used, index]), count: count + 1 })
      }
    }
  }
  return sorted.slice(Math.max(0, stuck - 12), stuck + 12)
}

/** How an event can happen: in the state as it is, or else after one or two of those that are unknown. */
function waysTo(
  event: Event,
  state: FileState,
  {
    sorted,
    open,
    observed,
  }: { readonly sorted: readonly Event[]; readonly open: readonly number[]; readonly observed: ReadonlySet<unknown> },
): { next: FileState; used: number[] }[] {
  const plain = apply(state, event)
  // what is appended keeps what was there, so that it can be too late for something unknown afterwards
  if (plain !== undefined && event.appends === undefined) return [{ next: plain, used: [] }]
  const ways: { next: FileState; used: number[] }[] = []
  const after = (from: FileState, used: number[]): void => {
    const tried = new Set<unknown>()
    for (const index of open) {
      const unknown = sorted[index]
      if (unknown?.outcome !== 'unknown' || used.includes(index)) continue
      const between = apply(from, unknown)
      // of several ways to one state, or to a state that no event has seen, the first will do
      const kind = between !== undefined && observed.has(between) ? between : 'unseen'
      if (between === undefined || tried.has(kind)) continue
      tried.add(kind)
      const next = apply(between, event)
      const isWanted = plain === undefined || observed.has(next)
      if (next !== undefined && isWanted) ways.push({ next, used: [...used, index] })
      if ((next === undefined || plain !== undefined) && used.length === 0) after(between, [index])
    }
  }
  after(state, [])
  return plain === undefined ? ways : [...ways, { next: plain, used: [] }]
}

/** The state after an event; `undefined` when it cannot happen in this one. */
function apply(state: FileState, event: Event): FileState | undefined {
  const { condition, outcome, seen, operation, orAbsent } = event
  if (outcome === 'unknown') {
    // without an effect it is as if it had not been
    return !holds(state, condition) || effect(state, event) === state ? undefined : effect(state, event)
  }
  if (outcome === 'refused') {
    if (operation === 'delete') return state === 'absent' || !holds(state, condition) ? state : undefined
    return holds(state, condition) ? undefined : state
  }
  if (!changes(event)) return seen === state || (seen === 'something' && state !== 'absent') ? state : undefined
  if (orAbsent === true && state === 'absent') return state
  return holds(state, condition) ? effect(state, event) : undefined
}

const changes = ({ value, appends }: Event): boolean => value !== undefined || appends !== undefined

const effect = (state: FileState, { value, appends }: Event): FileState | undefined =>
  appends === undefined ? value : appended(state, appends)

const holds = (state: FileState, condition: FileState | undefined): boolean =>
  condition === undefined || condition === state

/** A state, and those that it came from by appending. */
function beginningsOf(state: Event['seen']): unknown[] {
  if (typeof state !== 'string') return [state]
  const ids = state.split('+')
  return [state, ...ids.map((_, index) => ids.slice(0, index + 1).join('+')), Number(ids[0])]
}

/** Events that may be next: nothing that has not happened yet ended before they began. */
function openEvents(sorted: readonly Event[], done: ReadonlySet<number>): { first: number; indexes: number[] } {
  const indexes: number[] = []
  let first = -1
  let earliest = Number.POSITIVE_INFINITY
  for (const [index, { start, end, outcome }] of sorted.entries()) {
    if (start > earliest) break
    if (done.has(index)) continue
    if (outcome !== 'unknown') {
      if (first < 0) first = index
      earliest = Math.min(earliest, end)
    }
    indexes.push(index)
  }
  return { first, indexes }
}
