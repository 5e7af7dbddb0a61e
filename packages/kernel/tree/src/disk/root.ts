import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync } from 'node:fs'

import { failed, nativeCode } from '../errors.ts'

/** `O_PATH` is missing in Node's constants. Its value is the same on every Linux architecture that Node supports. */
export const O_PATH = 0x20_0000
const directoryFlags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW
export const listing = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const mostOpen = 128

/** The directory of open descriptors. With `self`, each call is slower, so `self` is used only if `/proc` shows another PID namespace. */
const descriptors = readlinkSync('/proc/self') === String(process.pid) ? `/proc/${process.pid}/fd/` : '/proc/self/fd/'

/** Returns the kernel's path of an open descriptor. */
export function selfOf(fd: number): string {
  return descriptors + fd
}

/** The directory of scans and restores. Opens one name at a time, follows no link, and checks the path before each change. */
export class Root {
  /** The kernel's maximum length of a path, in bytes. */
  static readonly longestPath = 4_095
  readonly path: string
  readonly fd: number
  readonly device: number
  readonly #mount: string
  readonly #open = new Map<string, number>()

  /** @param path a canonical path */
  constructor(path: string) {
    this.path = path
    this.fd = openSync(path, directoryFlags)
    this.device = fstatSync(this.fd).dev
    this.#mount = mountOf(this.fd)
    if (this.isAt(this.fd, '/')) return
    closeSync(this.fd)
    throw failed('EBUSY', 'the root directory was exchanged while it was opened', 'try again')
  }

  /** Returns a directory's descriptor, open until {@link Root.forget}; `undefined` if it is missing or on another mount. */
  directory(path: string): number | undefined {
    const missing: string[] = []
    let at = path
    let fd = this.#known(at)
    for (; fd === undefined; fd = this.#known(at)) {
      missing.push(at)
      at = parentOf(at)
    }
    for (const next of missing.reverse()) {
      const below: number | undefined = openDirectory(fd, nameOf(next))
      if (below === undefined) return undefined
      if (fstatSync(below).dev !== this.device || mountOf(below) !== this.#mount || !this.isAt(below, next)) {
        closeSync(below)
        return undefined
      }
      this.#keep(next, below)
      fd = below
    }
    return fd
  }

  /** Returns whether the descriptor's file is at the path, without links on the path. */
  isAt(fd: number, path: string): boolean {
    return readlinkSync(selfOf(fd)) === this.placeOf(path)
  }

  /** Returns true if the path is too long for the kernel, so no program can reach the entry by it. */
  isTooLong(path: string): boolean {
    if ((this.path.length + path.length) * 3 <= Root.longestPath) return false
    return Buffer.byteLength(this.placeOf(path)) > Root.longestPath
  }

  /** Returns the host path of an entry. Invalid if a directory above was replaced. */
  placeOf(path: string): string {
    if (path === '/') return this.path
    return this.path === '/' ? path : this.path + path
  }

  forget(): void {
    for (const fd of this.#open.values()) closeSync(fd)
    this.#open.clear()
  }

  close(): void {
    this.forget()
    closeSync(this.fd)
  }

  #known(path: string): number | undefined {
    const known = path === '/' ? this.fd : this.#open.get(path)
    if (known !== undefined && this.isAt(known, path)) return known
    if (path === '/') throw failed('ENOWORKSPACE', 'the root directory was moved or removed', 'bring it back')
    return undefined
  }

  #keep(path: string, fd: number): void {
    const before = this.#open.get(path)
    if (before !== undefined) closeSync(before)
    this.#open.delete(path)
    this.#open.set(path, fd)
    if (this.#open.size <= mostOpen) return
    const [oldest] = this.#open
    if (oldest === undefined) return
    closeSync(oldest[1])
    this.#open.delete(oldest[0])
  }
}

/** Returns the mount id of a descriptor: one file system can be mounted at several paths. */
function mountOf(fd: number): string {
  return /^mnt_id:\s*(\d+)/mu.exec(readFileSync(`${descriptors.replace('/fd/', '/fdinfo/')}${fd}`, 'utf8'))?.[1] ?? ''
}

/** Number of paths up to which comparing each one is faster than looking up all directories above a path. */
const fewCovers = 4

/** Returns whether a path is in the set, or below a path of the set. A path with a final slash covers only entries below. */
export function isCovered(covers: ReadonlySet<string>, path: string): boolean {
  if (covers.size === 0) return false
  if (covers.has(path)) return true
  if (covers.size <= fewCovers)
    return [...covers].some((cover) => path.startsWith(cover.endsWith('/') ? cover : `${cover}/`))
  for (let at = path; at !== '/'; ) {
    at = parentOf(at)
    if (covers.has(at) || covers.has(`${at}/`)) return true
  }
  return false
}

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash <= 0 ? '/' : path.slice(0, slash)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Opens a directory by its name in an open directory. Returns `undefined` if it is not a directory. */
export function openDirectory(parent: number, name: string, flags = directoryFlags): number | undefined {
  try {
    return openSync(`${selfOf(parent)}/${name}`, flags)
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined
    throw error
  }
}
