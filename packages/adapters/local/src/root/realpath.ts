import { closeSync, openSync, readlinkSync, realpathSync } from 'node:fs'

import { hasProc } from '../confine/handle.ts'
import { nativeCode } from '../errors.ts'
import { O_PATH } from '../host/constants.ts'

const mostLinks = 40
/** The longest path of Linux, in bytes with its NUL. */
const mostBytes = 4096
/** Limit of path bytes that the kernel looks up in one call. The lookups take some milliseconds. */
const mostLookedUp = 262_144

/**
 * The canonical form of a host path, for `createPathManager`. Missing names are kept; a dangling link leads to its target.
 * Synchronous, within milliseconds.
 * @throws the system's error for anything but a missing part; `ENAMETOOLONG` also for too much work, such as many `..` after long paths
 */
export function realpath(hostPath: string): string {
  const path = hostPath.startsWith('/') ? hostPath : `${process.cwd()}/${hostPath}`
  if (Buffer.byteLength(path) >= mostBytes) throw systemError('ENAMETOOLONG', 'the path is too long')
  return new Resolution(path).real()
}

class Resolution {
  /** The canonical path so far; names at its end may not exist. */
  #current = '/'
  /** Remaining names, the next one last. */
  readonly #rest: string[]
  #links = 0
  #lookedUp = 0

  constructor(path: string) {
    this.#rest = namesOf(path)
  }

  real(): string {
    while (this.#rest.length > 0) {
      if (this.#rest.at(-1) === '..') {
        this.#rest.pop()
        this.#current = this.#current.slice(0, Math.max(1, this.#current.lastIndexOf('/')))
      } else {
        this.#advance()
      }
    }
    return this.#current
  }

  /** Resolves the names up to the next `..` or dangling link. */
  #advance(): void {
    const up = this.#rest.lastIndexOf('..')
    const names = this.#rest.splice(up + 1).toReversed()
    // A `..` can only follow a directory.
    const { real, taken } = this.#deepest(names, up < 0 ? '' : '/.')
    this.#current = real
    const missing = names[taken]
    if (missing === undefined) return
    const target = linkTarget(join(real, [missing]))
    if (target === undefined) {
      this.#current = join(real, names.slice(taken))
      if (this.#current.length >= mostBytes) throw systemError('ENAMETOOLONG', 'the path is too long')
      return
    }
    this.#links += 1
    if (this.#links > mostLinks) throw systemError('ELOOP', 'too many links')
    this.#rest.push(...names.slice(taken + 1).toReversed(), ...namesOf(target))
    if (target.startsWith('/')) this.#current = '/'
  }

  /** Counts the existing names, and resolves them. Uses binary search, since each lookup starts at the root. */
  #deepest(names: readonly string[], end: string): { readonly real: string; readonly taken: number } {
    let found = { real: this.#current, taken: 0 }
    let missing = names.length + 1
    for (let next = names.length; found.taken + 1 < missing; next = Math.ceil((found.taken + missing) / 2)) {
      const taken = Math.min(next, missing - 1)
      const real = this.#lookUp(join(this.#current, names.slice(0, taken)) + (taken === names.length ? end : ''))
      if (real === undefined) missing = taken
      else found = { real, taken }
    }
    return found
  }

  #lookUp(path: string): string | undefined {
    this.#lookedUp += path.length
    if (this.#lookedUp > mostLookedUp) throw systemError('ENAMETOOLONG', 'the path is too much work')
    try {
      return canonical(path)
    } catch (error) {
      if (nativeCode(error) === 'ENOENT') return undefined
      throw error
    }
  }
}

/** Resolves an existing path through the kernel: the C library's `realpath` takes quadratic time. */
function canonical(path: string): string {
  if (!hasProc()) return realpathSync.native(path)
  const descriptor = openSync(path, O_PATH)
  try {
    const real = readlinkSync(`/proc/self/fd/${descriptor}`)
    // The entry was just removed, or its name really ends with ` (deleted)`.
    return real.endsWith(' (deleted)') ? realpathSync.native(path) : real
  } finally {
    closeSync(descriptor)
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'EINVAL' || code === 'ENOENT') return undefined // not a link, or nothing there
    throw error
  }
}

function namesOf(path: string): string[] {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .toReversed()
}

function join(directory: string, names: readonly string[]): string {
  if (names.length === 0) return directory
  return `${directory === '/' ? '' : directory}/${names.join('/')}`
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code, syscall: 'realpath' })
}
