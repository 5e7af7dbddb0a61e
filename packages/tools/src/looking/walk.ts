import { createGlobMatch } from './glob-match.ts'
import type { VirtualPath, WorkspaceEntry } from '@ws/core'

import type { Call } from '../session/session.ts'

/** Directories that hold what tools made, and nothing that a model looks for [FS9]. */
export const leftOut: ReadonlySet<string> = new Set(['node_modules', '__pycache__', '.git'])

export interface WalkOptions {
  /** Directories deep: 1 is the directory itself. Default: all. */
  readonly depth?: number | undefined
  /** Names that begin with a dot, too. Default false. */
  readonly hidden?: boolean | undefined
  /** Default: everything. */
  readonly glob?: string | undefined
  /** Entries that are kept. */
  readonly limit: number
  readonly directories?: boolean | undefined
}

export interface Walked {
  /** The first ones by path, as many as `limit`. */
  readonly entries: readonly WorkspaceEntry[]
  /** All that matched. */
  readonly total: number
}

/** The entries below a directory by path, of a tree of any size: only `limit` of them are held. */
export async function walk(call: Call, directory: VirtualPath, options: WalkOptions): Promise<Walked> {
  const { depth = Number.POSITIVE_INFINITY, hidden = false, glob, limit, directories = false } = options
  const matches = glob === undefined ? undefined : createGlobMatch(glob)
  const { signal, workspace } = call
  const start = directory === '/' ? 1 : directory.length + 1
  const kept = new Smallest(limit)
  const isDeep = depth > 1
  for await (const entry of workspace.list(directory, { recursive: isDeep, signal })) {
    if (entry.type === 'directory' && !directories) continue
    const below = entry.path.slice(start).split('/')
    if (below.length > depth) continue
    if (below.slice(0, -1).some((name) => leftOut.has(name) || (!hidden && name.startsWith('.')))) continue
    const name = below.at(-1) ?? ''
    if (!hidden && name.startsWith('.')) continue
    if (matches !== undefined && (leftOut.has(name) || !matches(below.join('/')))) continue
    kept.add(entry)
  }
  return { entries: kept.entries, total: kept.total }
}

/** The first entries by path of any number. */
class Smallest {
  readonly entries: WorkspaceEntry[] = []
  total = 0
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  add(entry: WorkspaceEntry): void {
    this.total += 1
    const { entries } = this
    const last = entries.at(-1)
    if (last !== undefined && entries.length >= this.#limit && comparePaths(last.path, entry.path) <= 0) return
    let low = 0
    let high = entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      const there = entries[middle]
      if (there !== undefined && comparePaths(there.path, entry.path) <= 0) low = middle + 1
      else high = middle
    }
    entries.splice(low, 0, entry)
    if (entries.length > this.#limit) entries.pop()
  }
}

/** By names, so that a directory comes right before everything in it. */
export function comparePaths(left: string, right: string): number {
  const a = left.replaceAll('/', '\0')
  const b = right.replaceAll('/', '\0')
  return a < b ? -1 : a > b ? 1 : 0
}
