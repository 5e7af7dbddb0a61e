import type { Stat, Version } from '@ws/core'

/** Paths that are remembered: the last ones. */
const most = 10_000

/**
 * The versions behind the times that callers were told. Mastra names the state of a file by its time; a version also tells two
 * changes within one millisecond apart.
 */
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

  /** The version that was told together with this time, the last time that one was told. */
  at(path: string, time: Date): Version | undefined {
    const found = this.#seen.get(path)
    return found?.time === time.getTime() ? found.version : undefined
  }
}

/** A time as a `Date` holds it: whole milliseconds. */
export function timeOf(modifiedAt: number | undefined): number {
  return Math.trunc(modifiedAt ?? 0)
}
