import { uptime } from 'node:os'

/** A moment by two clocks that cannot be set. `monotonic` stops on suspend, `uptime` is coarse. A holder uses the longer span. */
export interface Moment {
  readonly monotonic: number
  /** Milliseconds since the machine was started. */
  readonly uptime: number
}

export interface Clock {
  now(): Moment
  /** Milliseconds since the epoch, for people: this clock can be set. */
  time(): number
}

export const systemClock: Clock = {
  now: () => ({ monotonic: performance.now(), uptime: uptime() * 1000 }),
  time: () => Date.now(),
}

export function elapsed(clock: Clock, since: Moment): number {
  const now = clock.now()
  return Math.max(now.monotonic - since.monotonic, now.uptime - since.uptime)
}
