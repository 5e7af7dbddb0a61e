import type { Stats } from 'node:fs'

import type { Ahead } from './ahead/ahead.ts'
import type { Digest } from './content.ts'
import type { Facts } from './facts.ts'
import type { LeftOut } from './left-out.ts'
import type { Root } from './root.ts'

export interface ScanOptions {
  readonly root: Root
  readonly known: ReadonlyMap<string, Facts>
  readonly maxFileBytes: number
  /** Limits the scan to these paths, with everything below them. Default: all paths. */
  readonly only?: readonly string[] | undefined
  /** Reserved paths, which count as unchanged. */
  readonly reserved: readonly string[]
  /** Names to skip at any depth. They count as unchanged, with everything below. */
  readonly skipped?: ReadonlySet<string> | undefined
  /** If true, an entry that moved to a path which a scan cannot save (invalid UTF-8) counts as unknown. Default false: as removed. */
  readonly keepMoved?: boolean | undefined
  readonly ahead?: Ahead | undefined
  /** Reads a new or changed file, and returns the digest of its bytes; `undefined` for an unreadable file. */
  readonly take: (place: string, seen: Stats, path: string) => Digest | undefined
}

export interface ScanResult {
  readonly changed: ReadonlyMap<string, Facts>
  readonly gone: readonly string[]
  readonly leftOut: LeftOut['named']
  /** Paths that were not read, for `isCovered`. With everything below, they count as neither changed nor removed. */
  readonly unknown: readonly string[]
}
