import type { VirtualPath, WorkspaceEntry } from '@ws/core'

import type { Call } from '../session/session.ts'
import { literalToo, noteUnreadable, Omitted } from './left-out.ts'

/** Generated directories that models do not search [FS9]. */
export const leftOut: ReadonlySet<string> = new Set(['node_modules', '__pycache__', '.git', '.venv'])

const mostCounted = 10_000_000

export interface Walked {
  readonly entries: readonly WorkspaceEntry[]
  readonly total: number
}

export interface Globbed extends Walked {
  readonly omitted: Omitted
}

export interface WalkOptions {
  readonly hidden?: boolean | undefined
  readonly limit: number
}

interface GlobOptions extends WalkOptions {
  readonly ignored?: boolean | undefined
  readonly filesOnly?: boolean | undefined
}

/** Entries that match a glob in a tree of any size. Only the first entries are kept. */
export async function walkGlob(
  call: Call,
  directory: VirtualPath,
  glob: string,
  { hidden = false, ignored = false, filesOnly = false, limit }: GlobOptions,
): Promise<Globbed> {
  const unwanted = ignored ? [] : [...leftOut].filter((name) => !names(glob, name)).map((name) => `!${name}`)
  const omitted = new Omitted()
  const found = call.workspace.glob([...literalToo(glob), ...unwanted], {
    in: directory,
    includeHidden: hidden,
    gitignore: !ignored,
    maxMatches: mostCounted,
    signal: call.signal,
    onLeftOut: (path) => omitted.add(path),
    onUnreadable: (_path, error) => noteUnreadable(call, error),
  })
  const kept = new FirstEntries(limit)
  for await (const entry of found) {
    if (!filesOnly || entry.type !== 'directory') kept.add(entry)
  }
  return { entries: kept.entries, total: kept.total, omitted }
}

function names(glob: string, name: string): boolean {
  return glob.split(/[/{},]/u).includes(name)
}

export async function walkTree(
  call: Call,
  directory: VirtualPath,
  { hidden = false, limit, depth }: WalkOptions & { readonly depth: number | undefined },
): Promise<Walked> {
  const { signal, workspace } = call
  const start = directory === '/' ? 1 : directory.replace(/\/$/u, '').length + 1
  const listing =
    depth === 1
      ? workspace.list(directory, { signal })
      : workspace.list(directory, { recursive: true, signal, ...(depth !== undefined && { maxDepth: depth }) })
  const kept = new FirstEntries(limit)
  for await (const entry of listing) {
    if (!hidden && entry.name.startsWith('.')) continue
    const slash = entry.path.lastIndexOf('/')
    if (slash >= start && isLeftOut(entry.path.slice(start, slash), hidden)) continue
    kept.add(entry)
  }
  return kept
}

function isLeftOut(directories: string, hidden: boolean): boolean {
  return directories.split('/').some((name) => leftOut.has(name) || (!hidden && name.startsWith('.')))
}

class FirstEntries implements Walked {
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

/** Orders paths so that a directory comes right before its entries. */
function comparePaths(left: string, right: string): number {
  const a = left.replaceAll('/', '\0')
  const b = right.replaceAll('/', '\0')
  return a < b ? -1 : a > b ? 1 : 0
}
