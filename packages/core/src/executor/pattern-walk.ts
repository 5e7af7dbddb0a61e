import type { FileType } from '../adapter/types.ts'
import { isWorkspaceError } from '../errors.ts'
import { baseName, childPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { READ } from '../policy/access.ts'
import type { NamespaceNode } from '../policy/namespace.ts'
import type { CompiledPattern } from '../policy/patterns.ts'
import type { Gate } from '../workspace/gate.ts'
import type { WorkspaceMount } from '../workspace/mounts.ts'
import { eachEntry, isGone } from './variant-look.ts'

/** Something that a rule by pattern is about. */
export interface Match {
  readonly path: VirtualPath
  /** `missing`: the hooks of a repository that has none. `closed`: a directory that cannot be looked into. */
  readonly type: FileType | 'missing' | 'closed'
  readonly mount: WorkspaceMount
  /** The strictest of the rules that match. */
  readonly pattern: CompiledPattern
}

export interface Walk {
  readonly matches: readonly Match[]
  /** There was more than may be looked at: not all matches are known. */
  readonly overflow: 'directories' | 'matches' | undefined
}

export interface WalkOptions {
  readonly gate: Gate
  readonly patterns: readonly CompiledPattern[]
  /** Rights that commands have at a node of the namespace, patterns left aside. */
  readonly rightsAt: (node: NamespaceNode<WorkspaceMount>) => number
}

/** Directories that are listed for one command. */
export const maxDirectories = 20_000
/** Of what matches, so much is covered for one command: its start takes longer with each. */
export const maxMatches = 200

interface Place {
  readonly path: VirtualPath
  readonly mount: WorkspaceMount
  /** The patterns that look at what lies in it. */
  readonly patterns: readonly CompiledPattern[]
}

/** Finds what matches rules by pattern now, in everything that commands can read. Enters no directory below a match. */
export async function walkPatterns(options: WalkOptions): Promise<Walk> {
  const matches: Match[] = []
  if (options.patterns.length === 0) return { matches, overflow: undefined }
  const places = startingPlaces(options, matches)
  let looked = 0
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    if (matches.length > maxMatches) return { matches, overflow: 'matches' }
    looked += 1
    if (looked > maxDirectories) return { matches, overflow: 'directories' }
    await lookInto(place, options, matches, places)
  }
  return { matches, overflow: matches.length > maxMatches ? 'matches' : undefined }
}

/** Each mount, and each part that can be read inside of one that cannot. */
function startingPlaces({ gate, patterns, rightsAt }: WalkOptions, matches: Match[]): Place[] {
  const places: Place[] = []
  for (const node of [gate.namespace.root, ...gate.namespace.below(gate.namespace.root.path)]) {
    const { mount, path } = node
    if (node.reserved || mount?.adapter === undefined || (rightsAt(node) & READ) === 0) continue
    const isStart = mount.at === path || (node.parent !== undefined && (rightsAt(node.parent) & READ) === 0)
    if (!isStart) continue
    const own = strictest(patterns.filter((pattern) => pattern.match(path) !== undefined))
    if (own !== undefined) matches.push({ path, type: 'directory', mount, pattern: own })
    if (own?.rights === 0) continue
    const looking = patterns.filter((pattern) => pattern.looksBelow(path))
    if (looking.length > 0) places.push({ path, mount, patterns: looking })
  }
  return places
}

async function lookInto(place: Place, options: WalkOptions, matches: Match[], places: Place[]): Promise<void> {
  const { path: directory, mount, patterns } = place
  let hasHooks = false
  try {
    await eachEntry(mount, directory, ({ name, type, unreachable }) => {
      if (unreachable === true) return
      if (name === 'hooks') hasHooks = true
      lookAtEntry({ path: childPath(directory, name), type }, place, options, matches, places)
    })
  } catch (error) {
    if (isGone(error)) return
    if (!isWorkspaceError(error)) throw error
    const pattern = strictest(patterns)
    if (pattern !== undefined) matches.push({ path: directory, type: 'closed', mount, pattern })
    return
  }
  if (hasHooks || baseName(directory) !== '.git') return
  const path = childPath(directory, 'hooks')
  const pattern = strictest(patterns.filter((one) => one.matchAt(path) !== undefined))
  if (pattern !== undefined) matches.push({ path, type: 'missing', mount, pattern })
}

function lookAtEntry(
  { path, type }: { readonly path: VirtualPath; readonly type: FileType },
  { mount, patterns }: Place,
  { gate, rightsAt }: WalkOptions,
  matches: Match[],
  places: Place[],
): void {
  const found = patterns.filter((pattern) => pattern.matchAt(path) !== undefined)
  if (found.length === 0 && type !== 'directory') return
  const node = gate.namespace.find(path)
  // Another mount is a starting place of its own.
  if (node.reserved || node.mount !== mount || (rightsAt(node) & READ) === 0) return
  const pattern = strictest(found)
  if (pattern !== undefined && matches.length <= maxMatches) matches.push({ path, type, mount, pattern })
  if (type !== 'directory' || pattern?.rights === 0) return
  const below = patterns.filter((one) => !found.includes(one) && one.mayMatchBelow(path))
  if (below.length > 0) places.push({ path, mount, patterns: below })
}

function strictest(patterns: readonly CompiledPattern[]): CompiledPattern | undefined {
  return patterns.find(({ rights }) => rights === 0) ?? patterns[0]
}
