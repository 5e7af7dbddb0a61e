/**
 * A moment by two clocks. The monotonic one stands still while the machine is suspended, and the wall clock can be set:
 * the longer of the two spans is the safe one for a holder.
 */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

export interface Clock {
  now(): Moment
}

export const systemClock: Clock = { now: () => ({ monotonic: performance.now(), wall: Date.now() }) }

/** Milliseconds since a moment, the longer of the two spans. */
export function elapsed(clock: Clock, since: Moment): number {
  const now = clock.now()
  return Math.max(now.monotonic - since.monotonic, now.wall - since.wall)
}
