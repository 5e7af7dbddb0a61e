import {
  accessSync,
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { shortages } from '@ws/core/executor'

/** Milliseconds after which the directory is opened again by its path. */
const lookupAfter = 1000

/** Reads a directory's status by descriptor, in a fifth of the time. Notices removals immediately, and replacements within a second. */
export class WatchedDirectory {
  #path = ''
  #fd: number | undefined
  #lookedUpAt = 0

  /** Returns the status; `undefined` for a missing directory. */
  status(path: string): BigIntStats | undefined {
    const now = performance.now()
    if (this.#fd !== undefined && path === this.#path && now - this.#lookedUpAt < lookupAfter) {
      const status = fstatSync(this.#fd, { bigint: true })
      if (status.nlink > 0n) return status
    }
    const status = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (status === undefined) {
      this.#close()
      return undefined
    }
    this.#lookedUpAt = now
    if (this.#fd !== undefined) {
      const held = fstatSync(this.#fd, { bigint: true })
      if (path === this.#path && held.dev === status.dev && held.ino === status.ino) return status
    }
    this.#close()
    this.#path = path
    this.#fd = open(path)
    // A descriptor only shows changes of the opened directory.
    return this.#fd === undefined ? status : fstatSync(this.#fd, { bigint: true })
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}

/** Opens a directory. `undefined`: it cannot be opened, so the caller reads its status by path. */
function open(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  } catch {
    return undefined // removed, unreadable or no descriptors left: the next call tries again
  }
}

const rootState = '/var/lib/ws'

let known: string | undefined
let lastParent = ''
let lastDirectory = ''

/** Returns this user's directory for notes of reserved names. `WS_STATE_DIRECTORY` overrides it. Processes of one workspace must share it. */
export function reservedDirectory(): string {
  const named = process.env['WS_STATE_DIRECTORY']
  const parent = named?.startsWith('/') === true ? named : (known ??= chooseDirectory())
  // Cached, because a listing calls this function for every directory.
  if (parent !== lastParent) {
    lastParent = parent
    lastDirectory = join(parent, 'reserved')
  }
  return lastDirectory
}

function chooseDirectory(): string {
  const uid = process.getuid?.() ?? 0
  if (uid === 0) return rootState
  const home = homeDirectory()
  return home !== undefined && canBeMade(home) ? join(home, '.local/state/ws') : `/var/tmp/ws-${uid}`
}

function homeDirectory(): string | undefined {
  try {
    const { homedir } = userInfo()
    return homedir.startsWith('/') ? homedir : undefined
  } catch {
    return undefined
  }
}

function canBeMade(home: string): boolean {
  for (const path of [join(home, '.local/state/ws'), join(home, '.local/state'), join(home, '.local'), home]) {
    try {
      accessSync(path, constants.W_OK | constants.X_OK)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return false
    }
  }
  return false
}

export interface StateProblem {
  readonly reason: string
  readonly remedy: string
  /** The system's error, if it means a shortage. */
  readonly native?: unknown
}

/** Lets other users pass through root's directory, but not list it: it also holds staging directories of their runs. */
function letOwnersPass(parent: string): void {
  if (parent !== rootState || process.getuid?.() !== 0) return
  mkdirSync(parent, { recursive: true, mode: 0o711 })
  const { mode, uid } = lstatSync(parent)
  if (uid === 0 && (mode & 0o777) === 0o700) chmodSync(parent, 0o711)
}

/** Creates the directory, closed to other users. Returns why it cannot be used, or `undefined`. */
export function stateDirectoryProblem(): StateProblem | undefined {
  const directory = reservedDirectory()
  try {
    letOwnersPass(dirname(directory))
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return problemOf(dirname(directory), 0o022) ?? problemOf(directory, 0o077)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EROFS') return { reason: 'the state directory lies on a read-only file system', remedy: elsewhere }
    const shortage = shortages.of(error)
    if (shortage !== undefined) {
      const reason = `the state directory cannot be made: ${shortage.reason}`
      return { reason, remedy: shortage.remedy, native: error }
    }
    if (code === 'ENOTDIR' || code === 'EEXIST' || code === 'ELOOP')
      return { reason: 'a file or link is in the place of the state directory', remedy: `remove it, or ${elsewhere}` }
    return { reason: 'the state directory cannot be made', remedy: elsewhere }
  }
}

const elsewhere = 'set WS_STATE_DIRECTORY to a directory of this user that no other user can write to'

function problemOf(path: string, othersMode: number): StateProblem | undefined {
  const status = lstatSync(path)
  if (!status.isDirectory())
    return { reason: 'a file or link is in the place of the state directory', remedy: `remove it, or ${elsewhere}` }
  if (status.uid !== process.getuid?.())
    return { reason: 'the state directory belongs to another user', remedy: elsewhere }
  if ((status.mode & othersMode) !== 0)
    return { reason: 'other users can reach the state directory', remedy: `\`chmod 700\` it, or ${elsewhere}` }
  return undefined
}
