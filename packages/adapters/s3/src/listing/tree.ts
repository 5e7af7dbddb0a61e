import { paths } from '@ws/core'
import type { Entry, MountPath } from '@ws/core/adapter'
import type { InnerListOptions } from '@ws/core/inner'
import { versionOf } from '../keys/etag.ts'
import { linkNameOf } from '../keys/names.ts'
import type { Store } from '../store/store.ts'
import type { ListedKey } from './pages.ts'

export interface TreeOptions extends Pick<InnerListOptions, 'written'> {
  readonly path: MountPath
  readonly exclude: readonly MountPath[]
}

/** An object whose name may also be a directory's name. A later key decides that. */
interface Candidate {
  readonly directory: MountPath
  /** The key below the listed directory, without a link's suffix. */
  readonly rest: string
  readonly name: string
  readonly type: 'file' | 'symlink'
  readonly listed: ListedKey
}

/**
 * Makes entries from sorted keys, a page at a time. Common prefixes are directories, each returned once before its entries.
 * Memory contains only a chain of names, each of which begins with the name before.
 */
export class TreeBuilder {
  readonly #store: Store
  readonly #options: TreeOptions
  readonly #excluded: boolean
  #open: { readonly segment: string; readonly path: MountPath; readonly entered: boolean }[] = []
  #candidates: Candidate[] = []
  /** Normalised forms of names that are not in the normal form. */
  readonly #denormal = new Set<string>()
  #entries: Entry[] = []

  constructor(store: Store, options: TreeOptions) {
    this.#store = store
    this.#options = options
    this.#excluded = !this.#isEntered(options.path)
  }

  add(keys: readonly ListedKey[]): Entry[] {
    if (!this.#excluded) for (const key of keys) this.#addKey(key)
    return this.#take()
  }

  finish(): Entry[] {
    for (const candidate of this.#candidates) this.#settle(candidate)
    this.#candidates = []
    return this.#take()
  }

  /** The key to continue from after a key in an excluded subtree. */
  skip(last: string): string | undefined {
    const { keys } = this.#store
    const path = keys.pathOf(last)
    const root = this.#options.exclude.find((one) => one !== this.#options.path && paths.isWithin(path, one))
    return root === undefined || root === path ? undefined : `${keys.directoryKey(root)}\u{10ffff}`
  }

  #addKey(listed: ListedKey): void {
    const { rest } = listed
    if (rest === undefined) {
      this.#unreachable(this.#options.path, listed.shown, 'file')
      return
    }
    if (rest === '') return // the marker of the listed directory itself
    this.#settleBefore(rest)
    const segments = rest.split('/')
    const last = segments.pop() ?? ''
    const directory = this.#enter(segments)
    if (directory === undefined || last === '') return
    this.#addObject(directory, rest, last, listed)
  }

  /** Completes candidates that sort before this key, or turns them into directories. */
  #settleBefore(rest: string): void {
    const waiting: Candidate[] = []
    for (const candidate of this.#candidates) {
      const next = rest.startsWith(candidate.rest) ? rest.charCodeAt(candidate.rest.length) : Number.NaN
      // only names that sort before the slash come between a name and its entries
      if (next < slash) waiting.push(candidate)
      else this.#settle(candidate, next === slash)
    }
    this.#candidates = waiting
  }

  #settle({ directory, name, type, listed }: Candidate, hidden = false): void {
    const path = paths.child(directory, name)
    if (hidden) {
      this.#store.report({ kind: type === 'file' ? 'hidden-file' : 'hidden-link', path })
      this.#entries.push({ path, name, type, unreachable: true })
      return
    }
    const size = type === 'file' ? listed.size : 0
    const written = this.#options.written === true && { writtenAt: listed.modifiedAt }
    this.#entries.push({ path, name, type, size, version: versionOf(listed.etag), ...written })
  }

  /** Makes entries for the directories that begin with this key. Returns `undefined` to skip everything below. */
  #enter(segments: readonly string[]): MountPath | undefined {
    let path = this.#options.path
    for (const [depth, segment] of segments.entries()) {
      const open = this.#open[depth]
      if (open?.segment === segment) {
        if (!open.entered) return undefined
        path = open.path
        continue
      }
      this.#open.length = depth
      const reachable = this.#isReachable(path, segment)
      const below = paths.child(path, segment)
      if (reachable) {
        this.#entries.push({ path: below, name: segment, type: 'directory', size: 0, version: 'directory' })
        this.#checkNormalisation(below, segment)
      } else {
        this.#unreachable(path, segment === '' ? '(empty)' : segment, 'directory')
      }
      const entered = reachable && this.#isEntered(below)
      this.#open.push({ segment, path: below, entered })
      if (!entered) return undefined
      path = below
    }
    return path
  }

  #addObject(directory: MountPath, rest: string, last: string, listed: ListedKey): void {
    const link = this.#store.links ? linkNameOf(last) : undefined
    const isLink = link !== undefined
    const name = link ?? last
    const type = isLink ? 'symlink' : 'file'
    if (!this.#isReachable(directory, name)) {
      this.#unreachable(directory, name, type)
      return
    }
    const candidate: Candidate = {
      directory,
      rest: rest.slice(0, rest.length - last.length) + name,
      name,
      type,
      listed,
    }
    // a file of the same name hides a link
    if (isLink && this.#candidates.some((other) => other.rest === candidate.rest)) {
      this.#settle(candidate, true)
      return
    }
    this.#checkNormalisation(paths.child(directory, name), name)
    this.#candidates.push(candidate)
  }

  #isReachable(directory: MountPath, name: string): boolean {
    return this.#store.keys.isReachable(directory, name)
  }

  #unreachable(directory: MountPath, shown: string, type: 'file' | 'directory' | 'symlink'): void {
    const path = paths.child(directory, shown)
    this.#store.report({ kind: 'unreachable-key', path })
    this.#entries.push({ path, name: shown, type, unreachable: true })
  }

  #checkNormalisation(path: MountPath, name: string): void {
    if (isAscii.test(name)) return
    const normal = path.normalize('NFC')
    if (this.#denormal.has(normal)) this.#store.report({ kind: 'normalisation', path })
    else if (normal !== path && this.#denormal.size < denormalLimit) this.#denormal.add(normal)
  }

  #isEntered(path: MountPath): boolean {
    return !this.#options.exclude.some((root) => paths.isWithin(path, root))
  }

  #take(): Entry[] {
    const entries = this.#entries
    this.#entries = []
    return entries
  }
}

const slash = 0x2f
const denormalLimit = 10_000
// eslint-disable-next-line no-control-regex -- distinguishes ASCII from the rest
const isAscii = /^[\u0000-\u007f]*$/u
