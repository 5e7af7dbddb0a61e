import { constants } from 'node:os'

import { paths as virtualPaths } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import type { TreeWatch } from '@ws/core/inner'

import { findWatcher, type Watcher } from './watcher.ts'

/** Maximum number of watched directories of a tree. A user has 65,536 or more watches for all programs. */
const mostWatched = 50_000
/** Maximum number of changed paths that are kept for a later call. */
const mostKept = 20_000
const pathsAtOnce = 500

const bits = { attributes: 0x4, moved: 0xc0, deletedSelf: 0x400, movedSelf: 0x800, unmounted: 0x2000, ignored: 0x8000 }
const isDirectory = 0x40000000
/** Events after which another directory may have the name: moved, created or deleted. */
const replacing = 0x40 | 0x80 | 0x100 | 0x200

type TreeNews = NonNullable<Awaited<ReturnType<TreeWatch['since']>>>

interface Change {
  readonly path: MountPath
  readonly isReplaced: boolean
}

let lastTree = 0

/**
 * Watches a tree by inotify.
 * @param base its host path through an open descriptor, so that no other directory can replace it
 * @param reports `directories`: see {@link TreeWatch}. `entries`: in `changed`, each changed entry instead, also by content
 */
export function watchTree(
  base: string,
  reports: 'directories' | 'entries' = 'directories',
): TreeWatch & { readonly end: () => void } {
  return new InotifyTree(base, reports === 'entries')
}

function entryAt(directory: MountPath, hex: string): MountPath {
  return hex === '' ? directory : virtualPaths.child(directory, Buffer.from(hex, 'hex').toString())
}

class InotifyTree implements TreeWatch {
  readonly #base: string
  readonly #reportsEntries: boolean
  #watcher: Watcher | undefined
  #tree = 0
  #paths = new Map<number, MountPath>()
  #watches = new Map<MountPath, number>()
  #changes: Change[] = []
  readonly #moved = new Set<MountPath>()
  /** The position of the first kept change. */
  #first = 0
  #adding = false
  #isEnded = false

  constructor(base: string, reportsEntries: boolean) {
    this.#base = base
    this.#reportsEntries = reportsEntries
  }

  has(path: MountPath): boolean {
    return this.#watches.has(path)
  }

  async add(paths: readonly MountPath[]): Promise<void> {
    if (this.#adding || this.#isEnded) return
    this.#adding = true
    try {
      if (this.#watches.size + paths.length > mostWatched || !(await this.#open())) return this.end()
      const tree = this.#tree
      for (let at = 0; at < paths.length && tree === this.#tree; at += pathsAtOnce) {
        const some = paths.slice(at, at + pathsAtOnce)
        const answer = await this.#watcher?.ask('add', tree, ...some.map((path) => this.#hexOf(path)))
        if (answer === undefined || tree !== this.#tree) return this.#lose()
        if (!answer.split(' ').every((watch, index) => this.#note(some[index], Number(watch)))) return this.end()
      }
    } finally {
      this.#adding = false
    }
  }

  async since(position: number | undefined): Promise<TreeNews | undefined> {
    if (this.#tree === 0 || this.#isEnded) return undefined
    const tree = this.#tree
    const answer = await this.#watcher?.ask('ask', tree)
    if (tree !== this.#tree) return undefined
    if (answer === undefined || answer === 'lost') return this.#lose()
    for (const event of answer.split(' ')) if (event !== '' && !this.#take(event)) return this.#lose()
    this.#dropMoved() // @defence a change that the watch of a tree: whose entries, mode or name changed
    const end = this.#first + this.#changes.length
    if (this.#changes.length > mostKept) this.#forget()
    if (position === undefined) return { position: end, changed: new Set(), replaced: new Set() }
    if (position < this.#first) return undefined
    const news = this.#changes.slice(position - this.#first)
    const changed = new Set(news.filter(({ isReplaced }) => !isReplaced).map(({ path }) => path))
    return {
      position: end,
      changed,
      replaced: new Set(news.filter(({ isReplaced }) => isReplaced).map(({ path }) => path)),
    }
  }

  /** Ends the watches. The tree is not watched again. */
  end(): void {
    this.#isEnded = true
    this.#lose()
  }

  async #open(): Promise<boolean> {
    if (this.#tree !== 0) return true
    this.#watcher = findWatcher()
    const tree = ++lastTree
    const asked = ['open', tree, Buffer.from(this.#base).toString('hex'), this.#reportsEntries ? 1 : 0]
    const isOpen = (await this.#watcher?.ask(...asked)) === '0' && !this.#isEnded
    if (isOpen) this.#tree = tree
    else void this.#watcher?.ask('close', tree)
    return isOpen
  }

  #hexOf(path: MountPath): string {
    return Buffer.from(`${this.#base}${path === '/' ? '/.' : path}`).toString('hex')
  }

  /** Records the watch of a path. Returns false after a failure that makes the whole watch unreliable. */
  #note(path: MountPath | undefined, watch: number): boolean {
    if (path === undefined) return false
    const { ENOENT, ENOTDIR } = constants.errno
    if (watch < 0) return watch === -ENOENT || watch === -ENOTDIR
    const known = this.#paths.get(watch)
    // a bind mount shows one directory at two paths
    if (known !== undefined && known !== path) return false
    this.#paths.set(watch, path)
    this.#watches.set(path, watch)
    return true
  }

  /** Handles an event. Returns false if the whole watch is unreliable afterwards. */
  #take(event: string): boolean {
    const [watch = '', kind = '', hex = ''] = event.split(':')
    const mask = Number(kind)
    const path = this.#paths.get(Number(watch))
    if ((mask & bits.unmounted) !== 0) return false
    if (path === undefined) return true
    const isSelf = (mask & (bits.deletedSelf | bits.movedSelf | bits.ignored)) !== 0
    if (isSelf && path === '/') return false
    if (isSelf) this.#replace(path, (mask & bits.movedSelf) !== 0)
    else if (this.#reportsEntries) this.#changes.push({ path: entryAt(path, hex), isReplaced: false })
    else if ((mask & bits.attributes) === 0 || hex === '') this.#changes.push({ path, isReplaced: false })
    if ((mask & isDirectory) === 0 || (mask & replacing) === 0) return true
    this.#replace(entryAt(path, hex), (mask & bits.moved) !== 0)
    return true
  }

  #replace(path: MountPath, withTree: boolean): void {
    this.#changes.push({ path, isReplaced: true })
    this.#drop(path)
    if (withTree) this.#moved.add(path)
  }

  /** Drops all watches below moved directories, in one pass for all of them. */
  #dropMoved(): void {
    if (this.#moved.size === 0) return
    const isMoved = (path: MountPath): boolean =>
      path !== '/' && (this.#moved.has(path) || isMoved(virtualPaths.parent(path)))
    for (const path of [...this.#watches.keys()]) if (isMoved(path)) this.#drop(path)
    this.#moved.clear()
  }

  #drop(path: MountPath): void {
    const watch = this.#watches.get(path)
    if (watch === undefined) return
    this.#watches.delete(path)
    this.#paths.delete(watch)
  }

  #forget(): void {
    this.#first += this.#changes.length
    this.#changes = []
  }

  #lose(): undefined {
    if (this.#tree !== 0) void this.#watcher?.ask('close', this.#tree)
    this.#tree = 0
    this.#paths = new Map()
    this.#watches = new Map()
    this.#moved.clear()
    this.#forget()
    this.#first += 1 // earlier positions are no longer valid
  }
}
