import type { LinkTracer } from '../../mount/trace-links.ts'
import { READ } from '../../policy/access.ts'
import { matchBelowLink } from './below-links.ts'
import { overflowOf, strictest, type Tally, type Match, type Start, type WalkOptions } from './walk-memory.ts'
import { walkTree } from './walk-tree.ts'

export interface Walk {
  readonly matches: readonly Match[]
  /** The limit that the walk exceeded. If set, some matches are unknown. */
  readonly overflow: 'directories' | 'matches' | undefined
}

/** Finds the matches of pattern rules in all directories that commands can read. Does not search below a match. */
export async function walkPatterns(options: WalkOptions, tracer: LinkTracer): Promise<Walk> {
  const found: Tally = { matches: [], passages: [], directories: 0 }
  if (options.patterns.length === 0) return { matches: [], overflow: undefined }
  for (const start of startingPlaces(options, found.matches)) {
    await walkTree(start, options, found)
    if (overflowOf(found) !== undefined) break
  }
  for (const passage of found.passages) await matchBelowLink(passage, options.gate, tracer, found) // @defence a link at a name under a rule, whose target: by the name of a link above them
  return { matches: found.matches, overflow: overflowOf(found) }
}

/** Returns each readable mount, and each readable part inside an unreadable part. */
function startingPlaces({ gate, patterns, rightsAt }: WalkOptions, matches: Match[]): Start[] {
  const places: Start[] = []
  for (const node of [gate.namespace.root, ...gate.namespace.below(gate.namespace.root.path)]) {
    const { mount, path } = node
    if (node.reserved || mount?.adapter === undefined || (rightsAt(node) & READ) === 0) continue
    const isStart = mount.at === path || (node.parent !== undefined && (rightsAt(node.parent) & READ) === 0)
    if (!isStart) continue
    const own = strictest(patterns.filter((pattern) => pattern.match(path) !== undefined))
    if (own !== undefined) matches.push({ path, type: 'directory', mount, pattern: own })
    if (own?.rights === 0) continue
    const looking = patterns.filter((pattern) => pattern.mayMatchBelow(path))
    if (looking.length > 0) places.push({ path, mount, patterns: looking })
  }
  return places
}
