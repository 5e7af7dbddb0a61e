import type { Entry, FileType } from '../../contract/file-types.ts'
import { isWorkspaceError } from '../../errors.ts'
import { baseName, childPath, joinPath, parentPath, relativeTo } from '../../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../../path/virtual-path.ts'
import { READ } from '../../policy/access.ts'
import type { NamespaceNode } from '../../policy/namespace.ts'
import type { CompiledPattern } from '../../policy/patterns.ts'
import type { Gate } from '../../mount/gate.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import { GitDirectories, type GitName } from './git-directories.ts'
import { eachEntry, isGone } from './disk-look.ts'
import { memoryOf, remember, type Match, type Passage, type Remembered, type WalkMemory } from './walk-memory.ts'

export interface WalkOptions {
  readonly gate: Gate
  readonly patterns: readonly CompiledPattern[]
  /** Rights of commands at a node, without patterns. */
  readonly rightsAt: (node: NamespaceNode<WorkspaceMount>) => number
}

/** Most directories that one command's walk enters. */
export const maxDirectories = 200_000
/** Most matches that one command's walk collects. A command covers at most `maxParts`. */
export const maxMatches = 20_000

export interface Start {
  readonly path: VirtualPath
  readonly mount: WorkspaceMount
  readonly patterns: readonly CompiledPattern[]
}

export interface Found {
  readonly matches: Match[]
  readonly passages: Passage[]
  directories: number
}

export function overflowOf({ matches, directories }: Omit<Found, 'passages'>): 'directories' | 'matches' | undefined {
  if (matches.length > maxMatches) return 'matches'
  return directories > maxDirectories ? 'directories' : undefined
}

const none: readonly CompiledPattern[] = []

/** One recursive listing. The listing asks this class which directories to enter. */
export class TreeWalk {
  readonly #start: Start
  readonly #options: WalkOptions
  readonly #found: Found
  readonly #looking = new Map<MountPath, readonly CompiledPattern[]>()
  readonly #git = new GitDirectories()
  readonly #matched = new Set<VirtualPath>()
  readonly #own = new Map<MountPath, Match>()
  readonly #before: WalkMemory
  readonly #after = new Map<MountPath, Remembered>()
  readonly #key: string

  constructor(start: Start, options: WalkOptions, found: Found) {
    this.#start = start
    this.#options = options
    this.#found = found
    this.#key = [start.path, ...options.patterns.map(({ rule }) => rule.name)].join('\0')
    this.#before = memoryOf(options.gate, this.#key)
  }

  async run(): Promise<void> {
    const { path, mount, patterns } = this.#start
    const at = relativeTo(path, mount.at)
    this.#enter(at, baseName(path), patterns)
    let isWhole = true
    try {
      await eachEntry(mount, path, (entry) => this.#look(entry), {
        recursive: true,
        skips: (directory) => this.#patternsIn(directory).length === 0 || overflowOf(this.#found) !== undefined,
        onUnreadable: (directory) => this.#close(directory),
        known: (directory, stamp) => this.#recall(directory, stamp),
      })
    } catch (error) {
      if (isGone(error)) return
      if (!isWorkspaceError(error)) throw error
      this.#close(at)
      isWhole = false
    }
    if (overflowOf(this.#found) !== undefined) return
    // a directory that was read in part would hide the rest
    if (isWhole) remember(this.#options.gate, this.#key, this.#after)
    for (const name of this.#git.names((directory) => joinPath(mount.at, directory))) this.#lookAtGitName(name)
  }

  #look({ path, name, type, unreachable }: Entry): 'stop' | undefined {
    if (unreachable === true) return undefined
    const directory = parentPath(path)
    const noted = this.#after.get(directory)
    const isNew = noted !== undefined && noted !== this.#before.get(directory) ? noted : undefined
    if (type === 'directory') {
      this.#patternsIn(path)
      isNew?.directories.push(name)
    } else {
      const match = this.#lookAtFile(path, name, type)
      if (match !== undefined) {
        this.#add(match)
        isNew?.matches.push(match)
      }
      const passage = type === 'symlink' ? this.#passage(path) : undefined
      if (passage !== undefined) {
        this.#found.passages.push(passage)
        isNew?.passages.push(passage)
      }
    }
    if (this.#looking.get(directory)?.length && this.#git.note(path, name, type)) isNew?.git.push({ name, type })
    return overflowOf(this.#found) === undefined ? undefined : 'stop'
  }

  /** Takes over the matches of an earlier walk in a directory that has not changed since. */
  #recall(directory: MountPath, stamp: string | undefined): readonly string[] | undefined {
    this.#after.delete(directory)
    if (stamp === undefined) return undefined
    const before = this.#before.get(directory)
    if (before?.stamp !== stamp) {
      const looking = this.#looking.get(directory) ?? none
      const own = this.#own.get(directory)
      this.#after.set(directory, { stamp, own, looking, directories: [], matches: [], passages: [], git: [] })
      return undefined
    }
    this.#after.set(directory, before)
    for (const match of before.matches) this.#add(match)
    this.#found.passages.push(...before.passages)
    for (const { name, type } of before.git) this.#git.note(childPath(directory, name), name, type)
    return before.directories
  }

  #lookAtFile(path: MountPath, name: string, type: FileType): Match | undefined {
    if (!this.#options.patterns.some((pattern) => pattern.mayMatchName(name))) return undefined
    const looking = this.#looking.get(parentPath(path)) ?? none
    return this.#match(joinPath(this.#start.mount.at, path), type, looking).match
  }

  #passage(path: MountPath): Passage | undefined {
    const virtual = joinPath(this.#start.mount.at, path)
    const patterns = (this.#looking.get(parentPath(path)) ?? none).filter((pattern) => pattern.hasBegunAt(virtual))
    return patterns.length === 0 ? undefined : { path: virtual, patterns }
  }

  /** The patterns for the entries of a directory; none if it is not entered. Notes the directory's own match. */
  #patternsIn(path: MountPath): readonly CompiledPattern[] {
    const known = this.#looking.get(path)
    if (known !== undefined) return known
    const around = this.#looking.get(parentPath(path)) ?? none
    // Entries below a skipped directory may be listed, but need not be remembered.
    if (around.length === 0) return none
    const { own, looking } = this.#before.get(path) ?? this.#directory(path, around)
    if (own !== undefined) {
      this.#add(own)
      this.#own.set(path, own)
    }
    this.#enter(path, baseName(path), looking)
    return looking
  }

  #directory(path: MountPath, around: readonly CompiledPattern[]): Pick<Remembered, 'own' | 'looking'> {
    const virtual = joinPath(this.#start.mount.at, path)
    const { match: own, inside } = this.#match(virtual, 'directory', around)
    if (inside === undefined) return { own, looking: none }
    return { own, looking: around.filter((one) => !inside.includes(one) && one.mayMatchBelow(virtual)) }
  }

  #enter(path: MountPath, name: string, looking: readonly CompiledPattern[]): void {
    this.#looking.set(path, looking)
    if (looking.length === 0) return
    this.#found.directories += 1
    if (name === '.git') this.#git.noteNamed(path)
  }

  /** Returns the match of a path. `inside`: the patterns to search for below; `undefined`: do not enter. */
  #match(
    path: VirtualPath,
    type: FileType,
    looking: readonly CompiledPattern[],
  ): { readonly match?: Match; readonly inside?: readonly CompiledPattern[] } {
    const { gate, rightsAt } = this.#options
    const { mount } = this.#start
    const found = looking.filter((pattern) => pattern.match(path, type !== 'directory') !== undefined)
    if (found.length === 0 && type !== 'directory') return {}
    const node = gate.namespace.find(path)
    // Another mount is a starting place of its own.
    if (node.reserved || node.mount !== mount || (rightsAt(node) & READ) === 0) return {}
    const pattern = strictest(found)
    if (pattern === undefined) return { inside: found }
    const match = { path, type, mount, pattern }
    return pattern.rights === 0 ? { match } : { match, inside: found }
  }

  #close(directory: MountPath): void {
    const { mount } = this.#start
    this.#after.delete(directory)
    this.#git.forget(directory)
    const pattern = strictest(this.#looking.get(directory) ?? none)
    if (pattern !== undefined) this.#add({ path: joinPath(mount.at, directory), type: 'closed', mount, pattern })
  }

  /** Applies the rules of `.git` to any directory that git takes for a repository. */
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

export function strictest(patterns: readonly CompiledPattern[]): CompiledPattern | undefined {
  return patterns.find(({ rights }) => rights === 0) ?? patterns[0]
}
