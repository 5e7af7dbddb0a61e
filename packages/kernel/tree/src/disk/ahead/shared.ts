import type { Stats } from 'node:fs'

export type Status = Pick<Stats, 'dev' | 'ino' | 'mode' | 'size' | 'mtimeMs' | 'ctimeMs'>

/** Indexes in `progress`. */
export const slot = {
  /** The number of the scan that needs statuses; 0 if there is none. */
  wanted: 0,
  looking: 1,
  first: 2,
  /** The index that the walk has reached. */
  reached: 3,
} as const

/** Number of values for each entry in `statuses`. */
export const width = 6

export interface SharedList {
  /** Host paths in the order of a walk. */
  readonly places: readonly string[]
  readonly progress: Int32Array
  readonly statuses: Float64Array
}

export function createSharedList(places: readonly string[]): SharedList {
  return {
    places,
    progress: new Int32Array(new SharedArrayBuffer(Object.keys(slot).length * 4)),
    statuses: new Float64Array(new SharedArrayBuffer(places.length * width * 8)),
  }
}

/** Stores a status. `undefined`, or an inode number above 2^53, is stored as "absent". */
export function writeStatus({ statuses }: SharedList, index: number, status: Status | undefined): void {
  const at = index * width
  const known = status !== undefined && Number.isSafeInteger(status.ino) ? status : undefined
  statuses[at] = known?.ino ?? Number.NaN
  if (known === undefined) return
  statuses[at + 1] = known.dev
  statuses[at + 2] = known.mode
  statuses[at + 3] = known.size
  statuses[at + 4] = known.mtimeMs
  statuses[at + 5] = known.ctimeMs
}

export function readStatus({ statuses }: SharedList, index: number): Status | undefined {
  const at = index * width
  const number = (place: number): number => statuses[at + place] ?? Number.NaN
  const ino = number(0)
  if (Number.isNaN(ino)) return undefined
  return { ino, dev: number(1), mode: number(2), size: number(3), mtimeMs: number(4), ctimeMs: number(5) }
}
