/** The counted events. All from `bytes` on must stay 0: see {@link leakNames}. */
export interface Counts {
  operations: number
  /** They came to their end. */
  done: number
  /** They were refused with a typed error. */
  refused: number
  /** How long they took together. */
  milliseconds: number
  /** Bytes read from outside. */
  bytes: number
  /** Listed, found or described from outside, metadata included. */
  names: number
  /** Entries outside that were made, changed or removed. */
  changes: number
  /** Temporary files that were left in the workspace. */
  temps: number
  /** Errors that are not a `WorkspaceError`, or that reveal a host path or something outside. */
  untyped: number
  /** Operations that took longer than the limit. */
  hangs: number
  /** Descriptors of this process that were left open. */
  descriptors: number
}

export const leakNames = ['bytes', 'names', 'changes', 'temps', 'untyped', 'hangs', 'descriptors'] as const

export function noCounts(): Counts {
  return {
    operations: 0,
    done: 0,
    refused: 0,
    milliseconds: 0,
    bytes: 0,
    names: 0,
    changes: 0,
    temps: 0,
    untyped: 0,
    hangs: 0,
    descriptors: 0,
  }
}

export function addCounts(total: Counts, more: Counts): void {
  for (const name of Object.keys(total) as (keyof Counts)[]) total[name] += more[name]
}

export function sumCounts(all: Iterable<Counts>): Counts {
  const total = noCounts()
  for (const counts of all) addCounts(total, counts)
  return total
}

/** How much of what must not happen did happen. */
export function leaksIn(counts: Counts): number {
  return leakNames.reduce((sum, name) => sum + counts[name], 0)
}
