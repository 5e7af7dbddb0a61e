import { constants } from 'node:fs'
import { lstat, mkdir, readdir, realpath, rmdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

import { isGone } from '../confine/temp.ts'
import { nativeCode } from '../errors.ts'
import { ownUser } from './owner.ts'

export const scratchPrefix = 'ws-scratch-'
/** The mode that marks a scratch directory that could not be removed. */
export const givenUpMode = 0o500

/** Parents for scratch directories, best first. The user that runs commands may have no access to a private TMPDIR. */
export function scratchPlaces(): string[] {
  return [...new Set([tmpdir(), '/tmp', '/var/tmp'])]
}

/** The directory beside a root in which copies of the root are made. */
const besideName = '.ws-forks'

export function placeBeside(root: string): string {
  return join(dirname(root), besideName)
}

/** Places for a copy of a root. Those on the root's disk come first, because a copy there can share its blocks. */
export async function placesToFork(root: string, device: bigint): Promise<string[]> {
  const near: string[] = []
  const far: string[] = []
  for (const place of scratchPlaces()) {
    const real = await realpath(place).catch(() => place) // a missing place fails later
    const isNear = (await stat(real, { bigint: true }).catch(() => undefined))?.dev === device
    ;(isNear ? near : far).push(real)
  }
  return [...near, placeBeside(root), ...far].filter(
    (place) => !`${place}/`.startsWith(root === '/' ? root : `${root}/`),
  )
}

/** The canonical path of a place. Makes a place beside a root that is missing. @throws if other users may write to that place */
export async function openPlace(place: string): Promise<string> {
  if (basename(place) !== besideName) return await realpath(place)
  await mkdir(place, { mode: 0o711 }).catch((error: unknown) => {
    if (nativeCode(error) !== 'EEXIST') throw error
  })
  const { uid, mode } = await lstat(place)
  if (uid === ownUser().uid && (mode & (constants.S_IFMT | 0o022)) === constants.S_IFDIR) return place
  throw Object.assign(new Error('not ours'), { code: 'EACCES', syscall: 'mkdir' })
}

/** Removes an empty place beside a root. */
export async function leavePlace(place: string): Promise<void> {
  if (basename(place) === besideName) await rmdir(place).catch(() => undefined) // it is in use, or another process removed it
}

/** Scratch directories of ended processes in a place, as host paths. */
export async function leftScratch(place: string): Promise<string[]> {
  const names = await readdir(place).catch((): string[] => [])
  return (
    names
      // Any user can make names there, and people paste these paths into a shell: only plain names are accepted.
      .filter((name) => name.startsWith(scratchPrefix) && /^[\w-]+$/.test(name))
      .filter((name) => isGone(name.slice(scratchPrefix.length)) === true)
      .map((name) => join(place, name))
  )
}

/** Scratch directories that no later start removes, if this user may remove them. */
export async function givenUpScratch(): Promise<string[]> {
  const found: string[] = []
  for (const path of (await Promise.all(scratchPlaces().map(leftScratch))).flat()) {
    const status = await lstat(path).catch(() => undefined) // another process has removed it
    if (status?.isDirectory() !== true || (status.mode & 0o777) !== givenUpMode) continue
    if (process.getuid?.() === 0 || status.uid === process.getuid?.()) found.push(path)
  }
  return found
}
