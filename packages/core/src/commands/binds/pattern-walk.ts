import type { Entry, FileType } from '../../adapter/types.ts'
import { isWorkspaceError } from '../../errors.ts'
import { baseName, joinPath, parentPath, relativeTo } from '../../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../../path/virtual-path.ts'
import { READ } from '../../policy/access.ts'
import type { NamespaceNode } from '../../policy/namespace.ts'
import type { CompiledPattern } from '../../policy/patterns.ts'
import type { Gate } from '../../mount/gate.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import { GitDirectories, type GitName, type Placeholder } from './git-directories.ts'
import { eachEntry, isGone } from './variant-look.ts'

/** Something that a rule by pattern is about. */
export interface Match {
  readonly path: VirtualPath
  /** `missing`: a name that git would look for in a repository. `closed`: a directory that cannot be looked into. */
  readonly type: FileType | 'missing' | 'closed'
  /** Held in the place of a missing name. */
  readonly placeholder?: Placeholder | undefined
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
/** The most matches that are covered for one command: each makes its start slower. */
export const maxMatches = 200

/** Where a walk begins. */
interface Start {
  readonly path: VirtualPath
  readonly mount: WorkspaceMount
  /** The patterns that look at what lies in it. */
  readonly patterns: readonly CompiledPattern[]
}

/** Finds what matches rules by pattern now, in everything that commands can read. Enters no directory below a match. */
export async function walkPatterns(options: WalkOptions): Promise<Walk> {
  const found: Found = { matches: [], directories: 0 }
  if (options.patterns.length === 0) return { matches: [], overflow: undefined }
  for (const start of startingPlaces(options, found.matches)) {
    await new TreeWalk(start, options, found).run()
    if (overflowOf(found) !== undefined) break
  }
  return { matches: found.matches, overflow: overflowOf(found) }
}

/** So far, by one walk. */
interface Found {
  readonly matches: Match[]
  /** Directories that were entered. */
  directories: number
}

function overflowOf({ matches, directories }: Found): Walk['overflow'] {
  if (matches.length > maxMatches) return 'matches'
  return directories > maxDirectories ? 'directories' : undefined
}

/** Each mount, and each readable part inside a mount that cannot be read. */
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

const none: readonly CompiledPattern[] = []

/** One recursive listing: the adapter knows how to make it quick, and asks here which directories are entered. */
class TreeWalk {
  readonly #start: Start
  readonly #options: WalkOptions
  readonly #found: Found
  /** The patterns that look at what lies in a directory. */
  readonly #looking = new Map<MountPath, readonly CompiledPattern[]>()
  readonly #git = new GitDirectories()
  readonly #matched = new Set<VirtualPath>()

  constructor(start: Start, options: WalkOptions, found: Found) {
    this.#start = start
    this.#options = options
    this.#found = found
  }

  async run(): Promise<void> {
    const { path, mount, patterns } = this.#start
    const at = relativeTo(path, mount.at)
    this.#enter(at, path, patterns)
    try {
      await eachEntry(mount, path, (entry) => this.#look(entry), {
        recursive: true,
        skips: (directory) => this.#patternsIn(directory).length === 0 || overflowOf(this.#found) !== undefined,
        onUnreadable: (directory) => this.#close(directory),
      })
    } catch (error) {
      if (isGone(error)) return
      if (!isWorkspaceError(error)) throw error
      this.#close(at)
    }
    if (overflowOf(this.#found) !== undefined) return
    for (const name of this.#git.names((directory) => joinPath(mount.at, directory))) this.#lookAtGitName(name)
  }

  #look({ path, name, type, unreachable }: Entry): 'stop' | undefined {
    if (unreachable === true) return undefined
    if (type === 'directory') this.#patternsIn(path)
    else this.#lookAtFile(path, name, type)
    if (this.#looking.get(parentPath(path))?.length) this.#git.note(path, name, type)
    return overflowOf(this.#found) === undefined ? undefined : 'stop'
  }

  #lookAtFile(path: MountPath, name: string, type: FileType): void {
    for (const pattern of this.#options.patterns) {
      if (!pattern.mayMatchName(name)) continue
      const looking = this.#looking.get(parentPath(path)) ?? none
      this.#match(joinPath(this.#start.mount.at, path), type, looking)
      return
    }
  }

  /** The patterns that look at what lies in a directory: none where it is not entered. Notes what it matches itself. */
  #patternsIn(path: MountPath): readonly CompiledPattern[] {
    const known = this.#looking.get(path)
    if (known !== undefined) return known
    const around = this.#looking.get(parentPath(path)) ?? none
    // Entries below a directory that is not entered may be listed all the same, and need not be remembered.
    if (around.length === 0) return none
    const virtual = joinPath(this.#start.mount.at, path)
    const found = this.#match(virtual, 'directory', around)
    const looking =
      found === undefined ? none : around.filter((one) => !found.includes(one) && one.mayMatchBelow(virtual))
    this.#enter(path, virtual, looking)
    return looking
  }

  #enter(path: MountPath, virtual: VirtualPath, looking: readonly CompiledPattern[]): void {
    this.#looking.set(path, looking)
    if (looking.length === 0) return
    this.#found.directories += 1
    if (baseName(virtual) === '.git') this.#git.noteNamed(path)
  }

  /** @returns the patterns that an entry matches; `undefined` where nothing is to be looked for at it or in it */
  #match(
    path: VirtualPath,
    type: FileType,
    looking: readonly CompiledPattern[],
  ): readonly CompiledPattern[] | undefined {
    const { gate, rightsAt } = this.#options
    const { mount } = this.#start
    const found = looking.filter((pattern) => pattern.match(path, type !== 'directory') !== undefined)
    if (found.length === 0 && type !== 'directory') return undefined
    const node = gate.namespace.find(path)
    // Another mount is a starting place of its own.
    if (node.reserved || node.mount !== mount || (rightsAt(node) & READ) === 0) return undefined
    const pattern = strictest(found)
    if (pattern !== undefined) this.#add({ path, type, mount, pattern })
    return pattern?.rights === 0 ? undefined : found
  }

  /** A directory that cannot be looked into: something in it may match. */
  #close(directory: MountPath): void {
    const { mount } = this.#start
    this.#git.forget(directory)
    const pattern = strictest(this.#looking.get(directory) ?? none)
    if (pattern !== undefined) this.#add({ path: joinPath(mount.at, directory), type: 'closed', mount, pattern })
  }

  /** Rules hold in a directory that git takes for a repository as they hold in a directory called `.git`. */
  #lookAtGitName({ path, usual, type, placeholder }: GitName): void {
    const { mount } = this.#start
    if (this.#matched.has(path)) return
    const looking = this.#looking.get(relativeTo(parentPath(path), mount.at)) ?? none
    const isHeld = (one: CompiledPattern) => one.match(path) !== undefined || one.match(usual) !== undefined
    const pattern = strictest(looking.filter(isHeld))
    if (pattern === undefined) return
    const held = type === undefined ? ({ type: 'missing', placeholder } as const) : { type }
    this.#add({ path, mount, pattern, ...held })
  }

  #add(match: Match): void {
    this.#matched.add(match.path)
    if (this.#found.matches.length <= maxMatches) this.#found.matches.push(match)
  }
}

function strictest(patterns: readonly CompiledPattern[]): CompiledPattern | undefined {
  return patterns.find(({ rights }) => rights === 0) ?? patterns[0]
}
