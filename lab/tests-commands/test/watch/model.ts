import type { WatchEvent } from '@ws/core'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The entries that a reader of a watch knows: which there are by the events, and their content by a look at each event. An `overflow` makes
 * it look at everything below.
 */
export class Model {
  readonly known = new Map<string, string>()
  /** Entries of the look at an `overflow`, without an event since. Such an entry may have ended before the next look of the watch. */
  readonly #unsure = new Set<string>()
  readonly counts: Record<WatchEvent['kind'], number> = { created: 0, changed: 0, deleted: 0, overflow: 0 }
  readonly #root: string

  constructor(root: string) {
    this.#root = root
    this.#lookBelow('/')
  }

  hear(event: WatchEvent): void {
    this.counts[event.kind] += 1
    this.#unsure.delete(event.path)
    if (event.kind === 'overflow') for (const path of this.#lookBelow(event.path)) this.#unsure.add(path)
    else if (event.kind === 'deleted') this.known.delete(event.path)
    // an entry that has ended meanwhile gets an event for that too
    else this.known.set(event.path, contentOf(join(this.#root, event.path)) ?? 'ended')
  }

  /** Forgets the entries that only a look at an `overflow` has shown, and that are not there now. */
  settle(): void {
    for (const path of this.#unsure) if (contentOf(join(this.#root, path)) === undefined) this.known.delete(path)
  }

  #lookBelow(path: string): Iterable<string> {
    const around = path === '/' ? '/' : `${path}/`
    for (const known of [...this.known.keys()]) if (known.startsWith(around)) this.known.delete(known)
    const tree = treeOf(this.#root, path)
    for (const [found, content] of tree) this.known.set(found, content)
    return tree.keys()
  }
}

/** Each entry below a directory, with its content. */
export function treeOf(root: string, path = '/'): Map<string, string> {
  const found = new Map<string, string>()
  const add = (at: string): void => {
    const content = contentOf(join(root, at))
    if (content === undefined) return
    if (at !== '/') found.set(at, content)
    if (content !== 'directory') return
    for (const name of namesIn(join(root, at))) add(join(at, name))
  }
  add(path)
  return found
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // it has vanished
  }
}

function contentOf(path: string): string | undefined {
  try {
    const status = lstatSync(path)
    if (status.isDirectory()) return 'directory'
    return status.isSymbolicLink() ? `to ${readlinkSync(path)}` : `${status.mode & 0o777} ${readFileSync(path, 'utf8')}`
  } catch {
    return undefined // it has vanished
  }
}
