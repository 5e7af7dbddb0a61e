import type { Checkpoints } from '@ws/core/adapter'
import type { Database, Facts } from '@ws/tree/disk'

import { nameOf, standings } from '../three-way.ts'
import { apply, type Conflict } from './restore/restore.ts'
import type { Pair, Tree } from './tree.ts'

export interface ForkPair extends Pair {
  readonly ours: Checkpoints.ForkDifference['ours']
}

/** The turns of the shared checkpoint in both trees, and the turn of the origin to compare with. */
export interface SharedTurns {
  readonly ofFork: number
  readonly ofOrigin: number
  readonly until: number
}

/** Returns the paths that differ in more than their time between the shared checkpoint and the last scan of the fork. */
export function compareFork(origin: Tree, fork: Tree, turns: SharedTurns): ForkPair[] {
  const changes = (tree: Tree, since: number, until: number) =>
    tree.compare(since, until).flatMap((pair) => {
      const named = { path: pair.path, before: name(pair.before), after: name(pair.after) }
      return named.before === named.after ? [] : [{ ...pair, named }]
    })
  const theirs = changes(fork, turns.ofFork, fork.turn)
  const found = standings(
    theirs.map(({ named }) => named),
    changes(origin, turns.ofOrigin, turns.until).map(({ named }) => named),
    (path) => name(origin.at(turns.ofOrigin, path)),
  )
  return theirs.map(({ path, before, after }) => ({ path, before, after, ours: found.get(path) ?? 'changed' }))
}

function name(facts: Facts | undefined): string | undefined {
  return nameOf(facts && { ...facts, time: facts.mtime })
}

/** Gives each path the state of the fork's last scan, where the origin still is as in its own last scan. */
export function merge(
  origin: Tree,
  fork: Tree,
  database: Database,
  { paths, moves }: { readonly paths: readonly string[]; readonly moves: ReadonlyMap<string, string> },
): Conflict[] {
  const merged = new Set(paths)
  const groups = new Map<string, string>()
  const anchors = new Map<string, string>()
  const groupOf = (links: string): string => {
    const known = groups.get(links)
    if (known !== undefined) return known
    // other inodes than the fork's have other numbers
    let group = `fork ${links}`
    for (const { path } of fork.linksAt(fork.turn, links)) {
      const [now, then] = [origin.live.get(path), fork.live.get(path)]
      if (merged.has(path) || now === undefined || name(now) !== name(then)) continue
      group = now.ino
      anchors.set(group, path)
      break
    }
    groups.set(links, group)
    return group
  }
  const pairs = paths.map((path): Pair => {
    const then = fork.live.get(path)
    const links = then?.links === undefined ? undefined : groupOf(then.links)
    const before = then && { ...then, links, attributes: fork.attributes.at(fork.turn, path) }
    return { path, before, after: origin.live.get(path) }
  })
  return apply(origin, database, { pairs, anchors, discards: false, moves })
}
