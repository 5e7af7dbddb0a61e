import { lstat, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { isGone } from '../confine/temp.ts'

export const scratchPrefix = 'ws-scratch-'
/** The mode that marks a scratch directory that could not be removed. */
export const givenUpMode = 0o500

/** Parents for scratch directories, best first. The user that runs commands may have no access to a private TMPDIR. */
export function scratchPlaces(): string[] {
  return [...new Set([tmpdir(), '/tmp', '/var/tmp'])]
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
