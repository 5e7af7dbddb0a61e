import type { Entry, FileType } from '../../contract/file-types.ts'
import type { TreeWatch } from '../../contract/inner.ts'
import { isWorkspaceError } from '../../errors.ts'
import { baseName, childPath, joinPath, parentPath, relativeTo } from '../../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../../path/virtual-path.ts'
import { READ } from '../../policy/access.ts'
import type { CompiledPattern } from '../../policy/patterns.ts'
import { GitDirectories, type GitName } from './git-directories.ts'
import { eachEntry, isGone } from './disk-look.ts'
import { strictest, maxMatches, overflowOf, type Tally, type Match, type Passage } from './walk-memory.ts'
import type { Remembered, Start, WalkOptions } from './walk-memory.ts'

const none: readonly CompiledPattern[] = []

export interface TreeWalkParts {
  readonly start: Start
  readonly options: WalkOptions
  readonly found: Tally
  readonly before: ReadonlyMap<MountPath, Remembered>
  readonly watch: TreeWatch | undefined
}

/** One recursive listing. This class decides which directories the listing enters. */
export class TreeWalk {
  /** The directories that were read, in the order of reading. */
  readonly after = new Map<MountPath, Remembered>()
  /** Directories in `after` whose later changes may go unnoticed. */
  readonly unsure = new Set<MountPath>()
  readonly #parts: TreeWalkParts
  readonly #looking = new Map<MountPath, readonly CompiledPattern[]>()
  readonly #git = new GitDirectories()
  readonly #matched = new Set<VirtualPath>()
  readonly #own = new Map<MountPath, Match>()
  #isWhole = true

  constructor(parts: TreeWalkParts) {
    this.#parts = parts
  }

  /** `own`: the match of the directory itself. `isKnown`: true for directories to skip. @returns whether the directory exists */
  async run(
    directory: MountPath,
    { looking, own }: Pick<Remembered, 'looking' | 'own'>,
    isKnown: (directory: MountPath) => boolean = () => false,
  ): Promise<boolean> {
    const { start, found } = this.#parts
    const { mount } = start
    const path = joinPath(mount.at, directory)
    if (own !== undefined) this.#own.set(directory, own)
    this.#enter(directory, baseName(path), looking)
    try {
      await eachEntry(mount, path, (entry) => this.#look(entry), {
        recursive: true,
        skips: (child) => this.#patternsIn(child).length === 0 || overflowOf(found) !== undefined || isKnown(child),
        onUnreadable: (child) => this.#close(child),
        known: (child, stamp) => this.#recall(child, stamp),
        onHidden: (child) => this.#doubt(child),
      })
    } catch (error) {
      if (isGone(error)) return false
      if (!isWorkspaceError(error)) throw error
      this.#close(directory)
      // after a partial read, the remembered findings would omit entries
      this.#isWhole = false
      this.after.clear()
    }
    return true
  }

  /** Returns whether each directory to search was read, or is in `known`. */
  isComplete(known: ReadonlyMap<MountPath, Remembered>): boolean {
    if (!this.#isWhole) return false
    for (const [path, looking] of this.#looking)
      if (looking.length > 0 && !this.after.has(path) && !known.has(path)) return false
    return true
  }

  /** Adds the earlier findings of all directories, without reading a directory. */
  recallAll(directories: ReadonlyMap<MountPath, Remembered>): void {
    const { at } = this.#parts.start.mount
    for (const [path, known] of directories) {
      this.#enter(path, baseName(joinPath(at, path)), known.looking)
      for (const match of known.directoryMatches) this.#add(match)
      this.#takeOver(path, known)
    }
  }

  /** Adds the names that can make git run programs. */
  addGitNames(): void {
    const { at } = this.#parts.start.mount
    for (const name of this.#git.names((directory) => joinPath(at, directory))) this.#lookAtGitName(name)
  }

  #look({ path, name, type, unreachable }: Entry): 'stop' | undefined {
    if (unreachable === true) return undefined
    const { found, before } = this.#parts
    const directory = parentPath(path)
    const noted = this.after.get(directory)
    const isNew = noted !== undefined && noted !== before.get(directory) ? noted : undefined
    if (type === 'directory') {
      this.#patternsIn(path)
      isNew?.directories.push(name)
      const own = this.#own.get(path)
      if (own !== undefined) isNew?.directoryMatches.push(own)
    } else {
      const match = this.#lookAtFile(path, name, type)
      if (match !== undefined) {
        this.#add(match)
        isNew?.matches.push(match)
      }
      const passage = type === 'symlink' ? this.#passage(path) : undefined
      if (passage !== undefined) {
        found.passages.push(passage)
        isNew?.passages.push(passage)
      }
    }
    if (this.#looking.get(directory)?.length && this.#git.note(path, name, type)) isNew?.git.push({ name, type })
    return overflowOf(found) === undefined ? undefined : 'stop'
  }

  /** Adds the earlier findings of an unchanged directory, and returns its subdirectories; `undefined` if the directory must be read. */
  #recall(directory: MountPath, stamp: string | undefined): readonly string[] | undefined {
    const { before, watch } = this.#parts
    if (watch?.has(directory) === true) this.unsure.delete(directory)
    else this.unsure.add(directory)
    const known = before.get(directory)
    if (stamp === undefined || known?.stamp !== stamp) {
      const looking = this.#looking.get(directory) ?? none
      const own = this.#own.get(directory)
      const empty = { directories: [], directoryMatches: [], matches: [], passages: [], git: [] }
      this.after.set(directory, { stamp, own, looking, ...empty })
      return undefined
    }
    this.after.set(directory, known)
    this.#takeOver(directory, known)
    return known.directories
  }

  #takeOver(directory: MountPath, { matches, passages, git }: Remembered): void {
    for (const match of matches) this.#add(match)
    this.#parts.found.passages.push(...passages)
    for (const { name, type } of git) this.#git.note(childPath(directory, name), name, type)
  }

  /** Marks a directory as uncertain: a hidden entry can become visible without a change of the directory. */
  #doubt(directory: MountPath): void {
    this.unsure.add(directory)
    const noted = this.after.get(directory)
    if (noted !== undefined) this.after.set(directory, { ...noted, stamp: undefined })
  }

  #lookAtFile(path: MountPath, name: string, type: FileType): Match | undefined {
    if (!this.#parts.options.patterns.some((pattern) => pattern.mayMatchName(name))) return undefined
    const looking = this.#looking.get(parentPath(path)) ?? none
    return this.#match(joinPath(this.#parts.start.mount.at, path), type, looking).match
  }

  #passage(path: MountPath): Passage | undefined {
    const virtual = joinPath(this.#parts.start.mount.at, path)
    const patterns = (this.#looking.get(parentPath(path)) ?? none).filter((pattern) => pattern.hasBegunAt(virtual))
    return patterns.length === 0 ? undefined : { path: virtual, patterns }
  }

  /** Returns the patterns for the entries of a directory; none if the walk skips it. Records the directory's own match. */
  #patternsIn(path: MountPath): readonly CompiledPattern[] {
    const known = this.#looking.get(path)
    if (known !== undefined) return known
    const around = this.#looking.get(parentPath(path)) ?? none
    // Entries below a skipped directory may be listed, but are not remembered.
    if (around.length === 0) return none
    const { own, looking } = this.#parts.before.get(path) ?? this.#directory(path, around)
    if (own !== undefined) {
      this.#add(own)
      this.#own.set(path, own)
    }
    this.#enter(path, baseName(path), looking)
    return looking
  }

  #directory(path: MountPath, around: readonly CompiledPattern[]): Pick<Remembered, 'own' | 'looking'> {
    const virtual = joinPath(this.#parts.start.mount.at, path)
    const { match: own, inside } = this.#match(virtual, 'directory', around)
    if (inside === undefined) return { own, looking: none }
    return { own, looking: around.filter((one) => !inside.includes(one) && one.mayMatchBelow(virtual)) }
  }

  #enter(path: MountPath, name: string, looking: readonly CompiledPattern[]): void {
    this.#looking.set(path, looking)
    if (looking.length === 0) return
    this.#parts.found.directories += 1
    if (name === '.git') this.#git.noteNamed(path)
  }

  /** Returns the match of a path. `inside` lists the patterns that need no search below. Without `inside`, the walk skips the directory. */
  #match(
    path: VirtualPath,
    type: FileType,
    looking: readonly CompiledPattern[],
  ): { readonly match?: Match; readonly inside?: readonly CompiledPattern[] } {
    const { gate, rightsAt } = this.#parts.options
    const { mount } = this.#parts.start
    const found = looking.filter((pattern) => pattern.match(path, type !== 'directory') !== undefined) // @defence `, type !== 'directory'` another name by which git: all at once
    if (found.length === 0 && type !== 'directory') return {}
    const node = gate.namespace.find(path)
    // Another mount has its own walk.
    if (node.reserved || node.mount !== mount || (rightsAt(node) & READ) === 0) return {}
    const pattern = strictest(found)
    if (pattern === undefined) return { inside: found }
    const match = { path, type, mount, pattern }
    return pattern.rights === 0 ? { match } : { match, inside: found }
  }

  #close(directory: MountPath): void {
    const { mount } = this.#parts.start
    this.after.delete(directory)
    this.#git.forget(directory)
    const pattern = strictest(this.#looking.get(directory) ?? none)
    if (pattern !== undefined) this.#add({ path: joinPath(mount.at, directory), type: 'closed', mount, pattern })
  }

  /** Applies the rules of `.git` to any directory that git accepts as a repository. */
  #lookAtGitName({ path, usual, type, placeholder }: GitName): void {
    const { mount } = this.#parts.start
    if (this.#matched.has(path)) return
    const looking = this.#looking.get(relativeTo(parentPath(path), mount.at)) ?? none
    const isHeld = (one: CompiledPattern) => one.match(path) !== undefined || one.match(usual) !== undefined // @defence ` || one.match(usual)…undefined` another name by which git: all at once
    const pattern = strictest(looking.filter(isHeld))
    if (pattern === undefined) return
    const held = type === undefined ? ({ type: 'missing', placeholder } as const) : { type }
    this.#add({ path, mount, pattern, ...held })
  }

  #add(match: Match): void {
    this.#matched.add(match.path)
    const { matches } = this.#parts.found
    if (matches.length <= maxMatches) matches.push(match)
  }
}
