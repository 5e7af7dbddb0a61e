import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs'

import { failed, nativeCode } from '../errors.ts'

/** Not among Node's constants; the same on every Linux architecture that Node runs on. */
export const O_PATH = 0x20_0000
const directoryFlags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** Descriptors of directories that are kept open at once. */
const mostOpen = 128

/** `self` is a link, which costs each of many calls. In another PID namespace than `/proc` is from, it stays. */
const descriptors = readlinkSync('/proc/self') === String(process.pid) ? `/proc/${process.pid}/fd/` : '/proc/self/fd/'

/** The kernel's path to what a descriptor is open at. */
export function selfOf(fd: number): string {
  return descriptors + fd
}

/**
 * The one directory that scans and restores are confined to. Every directory is opened from the one above by one name, and no
 * link is followed; before an act it is seen to be where it should be.
 */
export class Root {
  readonly path: string
  readonly fd: number
  readonly device: number
  readonly #open = new Map<string, number>()

  /** @param path canonical */
  constructor(path: string) {
    this.path = path
    this.fd = openSync(path, directoryFlags)
    this.device = fstatSync(this.fd).dev
    if (this.isAt(this.fd, '/')) return
    closeSync(this.fd)
    throw failed('EBUSY', 'the root directory was exchanged while it was opened', 'try again')
  }

  /** A descriptor of a directory, which stays open until {@link Root.forget}. `undefined`: there is not one at that path. */
  directory(path: string): number | undefined {
    const known = path === '/' ? this.fd : this.#open.get(path)
    if (known !== undefined && this.isAt(known, path)) return known
    if (path === '/') throw failed('ENOWORKSPACE', 'the root directory was moved or removed', 'bring it back')
    const parent = this.directory(parentOf(path))
    if (parent === undefined) return undefined
    const fd = openDirectory(parent, nameOf(path))
    if (fd === undefined) return undefined
    if (fstatSync(fd).dev !== this.device || !this.isAt(fd, path)) {
      closeSync(fd)
      return undefined
    }
    this.#keep(path, fd)
    return fd
  }

  /** True where a descriptor is open at that very path, without a link on the way. */
  isAt(fd: number, path: string): boolean {
    return readlinkSync(selfOf(fd)) === this.placeOf(path)
  }

  /** Where an entry is on this machine, as long as no directory above it is exchanged. */
  placeOf(path: string): string {
    if (path === '/') return this.path
    return this.path === '/' ? path : this.path + path
  }

  /** Closes what {@link Root.directory} has opened. */
  forget(): void {
    for (const fd of this.#open.values()) closeSync(fd)
    this.#open.clear()
  }

  close(): void {
    this.forget()
    closeSync(this.fd)
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

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash <= 0 ? '/' : path.slice(0, slash)
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** One component of a directory that is open. `undefined`: nothing is there, or something that is not a directory. */
export function openDirectory(parent: number, name: string, flags = directoryFlags): number | undefined {
  try {
    return openSync(`${selfOf(parent)}/${name}`, flags)
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined
    throw error
  }
}
