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
  /** Only these paths, with everything below them. Default: all. */
  readonly only?: readonly string[] | undefined
  /** Reserved paths: taken to be as before. */
  readonly reserved: readonly string[]
  /** Names to skip at any depth: taken to be as before, with everything below. */
  readonly skipped?: ReadonlySet<string> | undefined
  /** Entries moved to an unsavable place are unknown. Default: gone. */
  readonly keepMoved?: boolean | undefined
  readonly ahead?: Ahead | undefined
  /** Reads a new or changed file, and names its bytes. `undefined`: unreadable. */
  readonly take: (place: string, seen: Stats) => Digest | undefined
}

export interface ScanResult {
  readonly changed: ReadonlyMap<string, Facts>
  readonly gone: readonly string[]
  readonly leftOut: LeftOut['named']
  /** Paths not looked at, for `isCovered`: neither changed nor gone, with everything below. */
  readonly unknown: readonly string[]
}
