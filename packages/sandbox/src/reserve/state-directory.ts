import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'

let known: string | undefined
let lastParent = ''
let lastDirectory = ''

/**
 * Where this user's processes note which names they have reserved. The same for all of them, in any environment, but
 * for `WS_STATE_DIRECTORY`, which names another place: processes that work on one workspace must share it.
 */
export function reservedDirectory(): string {
  const named = process.env['WS_STATE_DIRECTORY']
  const parent = named?.startsWith('/') === true ? named : (known ??= chooseDirectory())
  // It is asked for with every directory of a listing.
  if (parent !== lastParent) {
    lastParent = parent
    lastDirectory = join(parent, 'reserved')
  }
  return lastDirectory
}

function chooseDirectory(): string {
  const uid = process.getuid?.() ?? 0
  if (uid === 0) return '/var/lib/ws'
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

/**
 * Makes the directory, closed to everybody else.
 *
 * @returns `undefined` where it cannot be made, or is another user's
 */
export function makeReservedDirectory(): string | undefined {
  const directory = reservedDirectory()
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const path of [dirname(directory), directory]) {
      const status = lstatSync(path)
      const isOurs = status.isDirectory() && status.uid === process.getuid?.() && (status.mode & 0o022) === 0
      if (!isOurs) return undefined
    }
    return (lstatSync(directory).mode & 0o077) === 0 ? directory : undefined
  } catch {
    return undefined
  }
}
