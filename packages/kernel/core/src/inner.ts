/** The protocol between the core and the packages of this project that work on a disk: it can change in any version. */
export type { EntryIterator, InnerAdapter, InnerListOptions, ListedOption } from './contract/inner.ts'

/**
 * Whether the next change of an entry will show in its times: two changes within one tick of a disk's clock have the same time. Ticks
 * are 4 to 10 ms long on Linux, and a second where a disk keeps whole seconds.
 *
 * @param changedAt the latest time of the entry, in milliseconds since the epoch
 * @param lookedAt when the look at it began, likewise
 */
export function isSettled(changedAt: number, lookedAt: number): boolean {
  return changedAt < lookedAt - (changedAt % 1_000 === 0 ? 2_100 : 100)
}
