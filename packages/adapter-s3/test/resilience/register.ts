import type { FileState } from './known-files.ts'

/** What one operation on one file did, as its caller saw it. Contents are ids that are never used twice. */
export interface Event {
  readonly client: number
  /** Milliseconds; before the call and after its end. */
  readonly start: number
  readonly end: number
  readonly operation: string
  /** What must be there for it to act; absent: it acts in any case. */
  readonly condition?: FileState
  /** What it puts there; absent: it only looks. */
  readonly value?: FileState
  /**
   * - `done`: it acted, or for a look: `seen` was there.
   * - `refused`: its condition did not hold; for a delete without one, nothing was there.
   * - `unknown`: it acted once, at any time, or never.
   */
  readonly outcome: 'done' | 'refused' | 'unknown'
  readonly seen?: FileState
}

/**
 * Whether there is an order in which all events happened one at a time, each between its start and its end: then nothing
 * was lost, done twice, refused without a reason or told falsely (linearizability of one register, after Wing and Gong).
 * Returns the events that no order explains, with those before them; none when all is well.
 */
export function unexplained(events: readonly Event[]): readonly Event[] {
  const sorted = events
    .filter(({ outcome, value }) => outcome !== 'unknown' || value !== undefined)
    .toSorted((a, b) => a.start - b.start)
  const certain = sorted.filter(({ outcome }) => outcome !== 'unknown').length
  const seen = new Set<string>()
  let [furthest, stuck] = [-1, 0]
  interface Step {
    readonly state: FileState
    readonly done: ReadonlySet<number>
    readonly count: number
  }
  const stack: Step[] = [{ state: 'absent', done: new Set(), count: 0 }]
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    const { state, done, count } = step
    if (count === certain) return []
    const open = openEvents(sorted, done)
    const name = `${state} ${open.first} ${[...done].filter((index) => index > open.first).join()} ${unknownsOf(sorted, done, open.first)}`
    if (seen.has(name)) continue
    seen.add(name)
    if (count > furthest) [furthest, stuck] = [count, open.first]
    // what is popped first is what was certain to happen
    for (const index of open.indexes.toSorted((a, b) => rank(sorted[b]) - rank(sorted[a]))) {
      const event = sorted[index]
      const next = event === undefined ? undefined : apply(state, event)
      if (event === undefined || next === undefined) continue
      const isCertain = event.outcome !== 'unknown'
      stack.push({ state: next, done: new Set(done).add(index), count: count + (isCertain ? 1 : 0) })
    }
  }
  return sorted.slice(Math.max(0, stuck - 12), stuck + 12)
}

/** The state after an event; `undefined` when it cannot happen in this one. */
function apply(state: FileState, { condition, value, outcome, seen, operation }: Event): FileState | undefined {
  if (outcome === 'unknown') {
    // without an effect it is as if it had not been
    return value === undefined || value === state || !holds(state, condition) ? undefined : value
  }
  if (outcome === 'refused') {
    if (operation === 'delete') return state === 'absent' || !holds(state, condition) ? state : undefined
    return holds(state, condition) ? undefined : state
  }
  if (value === undefined) return seen === state ? state : undefined
  return holds(state, condition) ? value : undefined
}

const holds = (state: FileState, condition: FileState | undefined): boolean =>
  condition === undefined || condition === state

const rank = (event: Event | undefined): number => (event?.outcome === 'unknown' ? 1 : 0)

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

/** Unknown events of before that have been used up. */
function unknownsOf(sorted: readonly Event[], done: ReadonlySet<number>, before: number): string {
  return [...done].filter((index) => index < before && sorted[index]?.outcome === 'unknown').join()
}
