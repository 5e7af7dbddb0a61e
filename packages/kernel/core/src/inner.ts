/** The protocol between the core and this project's packages that work on a disk. It can change in any version. */
export type {
  EntryIterator,
  InnerAdapter,
  InnerEntry,
  InnerListOptions,
  ListedOption,
  TreeWatch,
} from './contract/inner.ts'

/**
 * Returns whether a later change will show in the times of an entry: changes within one clock tick share a time.
 * Ticks are 4 to 10 ms on Linux, and a second on a disk with whole seconds. Both arguments are milliseconds since the epoch.
 */
export function isSettled(changedAt: number, lookedAt: number): boolean {
  return changedAt < lookedAt - (changedAt % 1_000 === 0 ? 2_100 : 100)
}
