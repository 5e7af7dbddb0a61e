import type { TreeWatch } from '../../contract/inner.ts'
import { childPath, mountRoot, parentPath, relativeTo, type MountPath } from '../../path/virtual-path.ts'
import { TreeWalk, type TreeWalkParts } from './tree-walk.ts'
import { memoryOf, overflowOf, remember, type Findings, type Tally, type Remembered } from './walk-memory.ts'
import type { Start, WalkMemory, WalkOptions } from './walk-memory.ts'

type News = NonNullable<Awaited<ReturnType<TreeWatch['since']>>>
type Watched = NonNullable<WalkMemory['watched']>

/** Smallest number of directories for a watch. Below it, reading all directories is as fast. */
const fewestWatched = 100

/** Adds the matches in a tree to `found`. Skips directories that, by a watch or their times, have not changed since the last walk. */
export async function walkTree(start: Start, options: WalkOptions, found: Tally): Promise<void> {
  const { gate, patterns, acknowledged } = options
  const directory = relativeTo(start.path, start.mount.at)
  const key = [start.path, ...patterns.map(({ rule }) => rule.name), '', ...acknowledged].join('\0')
  const before = memoryOf(gate, key)
  // Only whole mounts are watched: for a part of a mount, the rename of a directory above would go unnoticed.
  const watch = directory === mountRoot ? start.mount.adapter?.watchTree?.() : undefined
  const news = await watch?.since(before.watched?.position)
  const parts = { start, options, found, before: before.directories, watch }
  const since = positionsOf(found)

  const { watched: known } = before
  const stale = news && known && staleOf(before.directories, known, news)
  if (news && known && stale?.length === 0) {
    take(known.findings, found)
    remember(gate, key, { ...before, watched: { ...known, position: news.position } })
    return
  }
  const updated = stale && (await update(parts, known.unsure, stale, news))
  const walk = new TreeWalk(parts)
  if (updated !== undefined) walk.recallAll(updated.directories)
  else if (!(await walk.run(directory, { looking: start.patterns, own: undefined }))) return
  if (overflowOf(found) !== undefined) return
  walk.addGitNames()

  const directories = updated?.directories ?? walk.after
  const unsure = updated?.unsure ?? walk.unsure
  const isTold = news !== undefined && walk.isComplete(directories)
  const watched = isTold && { position: news.position, unsure, findings: findingsSince(since, found) }
  remember(gate, key, { directories, ...(watched && { watched }) })
  if (watch !== undefined && directories.size >= fewestWatched) watchAll(watch, unsure)
}

/** Returns the directories to read again, parents before children. */
function staleOf(
  directories: ReadonlyMap<MountPath, Remembered>,
  { unsure }: Watched,
  { changed, replaced }: News,
): MountPath[] {
  const stale = new Set([...changed, ...unsure, ...[...replaced].map((path) => parentPath(path))])
  return byDepth([...stale].filter((path) => directories.has(path)))
}

/** Sorts paths by length: a path is longer than the paths above it. */
function byDepth(paths: readonly MountPath[]): MountPath[] {
  return paths.toSorted((one, other) => one.length - other.length)
}

/** Reads changed directories again. `undefined`: all directories must be read, for speed or because a limit was exceeded. */
async function update(
  parts: TreeWalkParts,
  before: ReadonlySet<MountPath>,
  stale: readonly MountPath[],
  { replaced }: News,
): Promise<{ directories: Map<MountPath, Remembered>; unsure: Set<MountPath> } | undefined> {
  if (stale.length > parts.before.size / 4) return undefined
  const directories = new Map(parts.before)
  const unsure = new Set(before)
  const drop = (path: MountPath): void => {
    const known = directories.get(path)
    directories.delete(path)
    unsure.delete(path)
    for (const name of known?.directories ?? []) drop(childPath(path, name))
  }
  for (const path of replaced) drop(path) // @defence a change that the watch of a tree: exchanged, moved in or out, or made again

  const isKnown = (path: MountPath): boolean => directories.has(path) && parts.watch?.has(parentPath(path)) === true
  const aside = { ...parts, before: directories, found: { matches: [], passages: [], directories: 0 } }
  for (const path of stale) {
    const known = directories.get(path)
    if (known === undefined) continue
    const walk = new TreeWalk(aside)
    if (!(await walk.run(path, known, isKnown))) {
      drop(path)
      continue
    }
    if (!walk.isComplete(directories) || overflowOf(aside.found) !== undefined) return undefined
    for (const [read, now] of walk.after) {
      const names = new Set(now.directories)
      for (const name of directories.get(read)?.directories ?? []) if (!names.has(name)) drop(childPath(read, name))
      directories.set(read, now)
      if (walk.unsure.has(read)) unsure.add(read)
      else unsure.delete(read)
    }
  }
  return { directories, unsure }
}

function take({ matches, passages, directories }: Findings, found: Tally): void {
  found.matches.push(...matches)
  found.passages.push(...passages)
  found.directories += directories
}

function positionsOf({ matches, passages, directories }: Tally): readonly [number, number, number] {
  return [matches.length, passages.length, directories]
}

function findingsSince([matches, passages, directories]: ReturnType<typeof positionsOf>, found: Tally): Findings {
  return {
    matches: found.matches.slice(matches),
    passages: found.passages.slice(passages),
    directories: found.directories - directories,
  }
}

/** Watches directories. The next walk reads them again, because they may have changed before the watch began. */
function watchAll(watch: TreeWatch, unsure: ReadonlySet<MountPath>): void {
  const unwatched = [...unsure].filter((path) => !watch.has(path))
  if (unwatched.length > 0) void watch.add(byDepth(unwatched))
}
