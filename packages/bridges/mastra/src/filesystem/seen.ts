import type { Stat, Version } from '@ws/core'

/** Limit of remembered paths. The newest paths are kept. */
const most = 10_000

/** Finds a version by the time reported to Mastra: Mastra identifies states by time, and two changes may share a millisecond. */
export class SeenVersions {
  readonly #seen = new Map<string, { readonly time: number; readonly version: Version }>()

  see(path: string, { modifiedAt, version }: Stat): void {
    this.#seen.delete(path)
    this.#seen.set(path, { time: timeOf(modifiedAt), version })
    if (this.#seen.size <= most) return
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest)
      return
    }
  }

  /** The last reported version, if its reported time equals `time`. */
  at(path: string, time: Date): Version | undefined {
    const found = this.#seen.get(path)
    return found?.time === time.getTime() ? found.version : undefined
  }
}

/** Whole milliseconds, as in a `Date`. */
export function timeOf(modifiedAt: number | undefined): number {
  return Math.trunc(modifiedAt ?? 0)
}
