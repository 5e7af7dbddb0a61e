const names = [
  'operations',
  'done',
  /** Operations that were refused with a typed error. */
  'refused',
  /** The total time of the operations. */
  'milliseconds',
] as const

/** The counts that must remain 0. */
export const leakNames = [
  /** Bytes read from outside. */
  'bytes',
  /** Names or metadata from outside that were listed, found or described. */
  'names',
  /** Entries outside that were made, changed or removed. */
  'changes',
  /** Temporary files that were left in the workspace. */
  'temps',
  /** Errors that are not a `WorkspaceError`, or that reveal a host path or an outside name. */
  'untyped',
  /** Operations that took longer than the limit. */
  'hangs',
  /** Descriptors of this process that were left open. */
  'descriptors',
] as const

export const countNames = [...names, ...leakNames]

export type Counts = Record<(typeof countNames)[number], number>

export function noCounts(): Counts {
  return Object.fromEntries(countNames.map((name) => [name, 0])) as Counts
}

export function addCounts(total: Counts, more: Counts): void {
  for (const name of countNames) total[name] += more[name]
}

export function sumCounts(all: Iterable<Counts>): Counts {
  const total = noCounts()
  for (const counts of all) addCounts(total, counts)
  return total
}

export function leaksIn(counts: Counts): number {
  return leakNames.reduce((sum, name) => sum + counts[name], 0)
}
