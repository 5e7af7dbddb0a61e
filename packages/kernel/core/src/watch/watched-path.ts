import { isDenial } from '../calls/audit.ts'
import type { Context } from '../calls/context.ts'
import type { WatchEvent } from '../contract/watching.ts'
import { isWorkspaceError } from '../errors.ts'
import { list } from '../files/listing.ts'
import { realPath, stat } from '../files/reading.ts'
import { virtualError } from '../mount/errors.ts'
import { View } from '../mount/view.ts'
import { isWithin, joinPath, parentPath, relativeTo, segmentsOf } from '../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'
import { Table, type Names, type State } from './table.ts'

/** Maximum number of known entries of a watch. Each takes some hundred bytes. */
const mostEntries = 100_000
/** The same for all watches of a workspace. */
const mostOfWorkspace = 500_000
/** Number of suspects up to which a look at each is faster than a listing. */
const fewSuspects = 100

export interface WatchedPathOptions {
  readonly context: Context
  readonly given: VirtualPath
  readonly recursive: boolean
  /** Counts the entries of the watch. */
  readonly tally: { size: number }
  readonly tell: (event: WatchEvent) => void
}

/** One path of a watch. Compares the known states there with the files, by stats and listings under the rules. */
export class WatchedPath {
  readonly given: VirtualPath
  /** False until the first look: its differences are not told. */
  isTold = false
  /** False to try whether plain listings show versions. */
  details = true
  readonly #options: WatchedPathOptions
  readonly #table: Table
  /** The path without links. Absent while the entry is missing. */
  #real: VirtualPath | undefined
  #view: View
  #looks = 0

  constructor(options: WatchedPathOptions) {
    this.given = options.given
    this.#options = options
    this.#table = new Table(options.tally, (kind, names, state) => this.#tell(kind, names, state))
    this.#view = this.#viewOf(options.given)
  }

  /** False if links lead to the entry, or if it is missing. A change anywhere can then lead to another entry. */
  get isPlain(): boolean {
    return this.#real === this.given
  }

  mayConcern(path: VirtualPath): boolean {
    return !this.isPlain || placesIn(this.given, path).length > 0
  }

  /** Files with several hard links. */
  *linked(): Generator<VirtualPath> {
    for (const names of this.#table.linked.values()) yield this.#pathOf(names)
  }

  /** Looks at or below the suspects. @param isWhole look at everything */
  async look(suspects: ReadonlySet<VirtualPath>, isWhole: boolean): Promise<void> {
    const isAtTop = isWhole || !this.isPlain || [...suspects].some((path) => isWithin(this.given, path))
    const real = isAtTop ? await this.#find() : this.#real
    this.#looks += 1
    const hasMoved = real !== this.#real
    if (hasMoved) this.#table.note([], undefined, this.#looks)
    this.#real = real
    if (real === undefined) return
    this.#view = this.#viewOf(real)
    const here = isWhole || hasMoved ? [real] : [...suspects].flatMap((path) => placesIn(real, path))
    const isMany = here.length > fewSuspects + this.#options.tally.size / 4
    const looked = new Set<string>()
    const { size } = this.#table.linked
    for (const path of isMany ? [real] : here.toSorted((one, other) => one.length - other.length)) {
      const names = this.#table.entrance(segmentsOf(relativeTo(this.#listable(path, real), real)))
      if ([...names, ''].some((_, depth) => looked.has(names.slice(0, depth).join('/')))) continue
      looked.add(names.join('/'))
      await this.#lookAt(names)
    }
    // the other names of a new hard link are unknown
    if (!looked.has('') && this.#table.linked.size > size) await this.#lookAt([])
  }

  /** A store that ignores case may list another spelling of a name: the listing of the directory shows it. */
  #listable(path: VirtualPath, real: VirtualPath): VirtualPath {
    const isExact = path === real || this.#options.context.gate.namespace.find(path).mount?.caseSensitive !== false
    return isExact ? path : parentPath(path)
  }

  async #lookAt(names: Names): Promise<void> {
    const { recursive } = this.#options
    if (!recursive && names.length > 1) return
    const path = this.#pathOf(names)
    const state = names.length === 0 || this.#isShown(path) ? await this.#stateOf(path) : undefined
    this.#table.note(names, state, this.#looks)
    if (state?.type !== 'directory' || (!recursive && names.length > 0)) return
    try {
      await this.#lookInto(path, names)
    } catch (error) {
      if (isGone(error)) this.#table.note(names, undefined, this.#looks)
      else if (!isDenial(error)) throw error
    }
  }

  async #lookInto(path: VirtualPath, names: Names): Promise<void> {
    const { context, recursive, tally } = this.#options
    const namesOf = (at: VirtualPath): Names => segmentsOf(relativeTo(at, this.#pathOf([])))
    const unreadable = new Set<string>()
    const options = { recursive, details: this.details }
    for await (const entry of list(context, path, options, (at) => unreadable.add(namesOf(at).join('/')))) {
      if (entry.unreachable) continue
      // a link has replaced the directory
      if (!isWithin(entry.path, path)) return this.#table.note(names, undefined, this.#looks)
      if (!this.details && lacksVersion(entry) && this.#isShown(entry.path)) {
        this.details = true
        return await this.#lookInto(path, names)
      }
      this.#table.note(namesOf(entry.path), entry, this.#looks)
      if (tally.size > mostEntries) throw tooMany(this.given, 'a watch', mostEntries)
    }
    const known = [...context.state.watches].reduce((sum, { size }) => sum + size, 0)
    if (known > mostOfWorkspace) throw tooMany(this.given, 'all watches of a workspace', mostOfWorkspace)
    this.#table.prune(names, this.#looks, (at) => unreadable.has(at.join('/')))
  }

  #pathOf(names: Names): VirtualPath {
    return joinPath(this.#real ?? this.given, pathFrom(names))
  }

  #viewOf(start: VirtualPath): View {
    return new View(this.#options.context.gate, start, 'list')
  }

  #isShown(path: VirtualPath): boolean {
    return this.#view.visibility(path) === 'described'
  }

  #find(): Promise<VirtualPath | undefined> {
    return realPath(this.#options.context, this.given).catch((error: unknown) => this.#missing(error))
  }

  #stateOf(path: VirtualPath): Promise<State | undefined> {
    return stat(this.#options.context, path).catch((error: unknown) => this.#missing(error))
  }

  /** A watch of a denied path is refused at its beginning. Later, a denied entry is missing. */
  #missing(error: unknown): undefined {
    if (!isGone(error) && !(this.isTold && isDenial(error))) throw error
    return undefined
  }

  #tell(kind: 'created' | 'changed' | 'deleted', names: Names, { type }: State): void {
    if (!this.isTold || !this.#isShown(this.#pathOf(names))) return // @defence ` || !this.#isShown(this.#pathOf(names))` events of a watch: names no denied path
    this.#options.tell({ kind, path: joinPath(this.given, pathFrom(names)), type })
  }
}

const gone = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EOUTSIDE'] as const

function isGone(error: unknown): boolean {
  return gone.some((code) => isWorkspaceError(error, code))
}

function pathFrom(names: Names): MountPath {
  return `/${names.join('/')}` as MountPath
}

function lacksVersion({ type, version }: State): boolean {
  return type !== 'directory' && version === undefined
}

/** Returns where to look at or below `real` after a change at or below `path`. */
function placesIn(real: VirtualPath, path: VirtualPath): readonly VirtualPath[] {
  if (isWithin(path, real)) return [path]
  return isWithin(real, path) ? [real] : []
}

function tooMany(path: VirtualPath, who: string, most: number): Error {
  return virtualError({
    code: 'EFBIG',
    operation: 'watch',
    path,
    reason: `cannot be watched: ${who} may know at most ${most} entries`,
    remedy: 'watch a part of the tree, or pass `recursive: false`',
  })
}
