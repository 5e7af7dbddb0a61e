import type { WatchEvent } from '@ws/core'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** The entries that a reader of a watch knows: it looks at the path of each event, and at everything below an `overflow`. */
export class Model {
  readonly known = new Map<string, string>()
  readonly counts: Record<WatchEvent['kind'], number> = { created: 0, changed: 0, deleted: 0, overflow: 0 }
  readonly #root: string

  constructor(root: string) {
    this.#root = root
    this.#lookBelow('/')
  }

  hear(event: WatchEvent): void {
    this.counts[event.kind] += 1
    if (event.kind === 'overflow') this.#lookBelow(event.path)
    else this.#look(event.path)
  }

  #look(path: string): void {
    const found = contentOf(join(this.#root, path))
    if (found === undefined) this.known.delete(path)
    else this.known.set(path, found)
  }

  #lookBelow(path: string): void {
    const around = path === '/' ? '/' : `${path}/`
    for (const known of [...this.known.keys()]) if (known.startsWith(around)) this.known.delete(known)
    for (const [found, content] of treeOf(this.#root, path)) this.known.set(found, content)
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
