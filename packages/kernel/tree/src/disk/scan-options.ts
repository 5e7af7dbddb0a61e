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
  /** Paths that commands have reserved: they are taken to be as they were. */
  readonly reserved: readonly string[]
  /** Names at any depth that are not looked at: they are taken to be as they were, with everything below them. */
  readonly skipped?: ReadonlySet<string> | undefined
  /** Entries that were moved to where they cannot be saved are unknown. Default: they are gone. */
  readonly keepMoved?: boolean | undefined
  readonly ahead?: Ahead | undefined
  /** Reads a file that is new or may have changed, and names its bytes. `undefined`: it cannot be read. */
  readonly take: (place: string, seen: Stats) => Digest | undefined
}

export interface ScanResult {
  readonly changed: ReadonlyMap<string, Facts>
  readonly gone: readonly string[]
  readonly leftOut: LeftOut['named']
  /** Paths that could not be looked at, for `isCovered`: they and the entries below them are neither changed nor gone. */
  readonly unknown: readonly string[]
}
