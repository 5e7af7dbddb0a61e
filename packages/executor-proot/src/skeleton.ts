import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A place in the view that must exist before something is bound there. */
export interface Place {
  readonly at: string
  readonly type: 'directory' | 'file'
}

/**
 * Makes an empty directory with an empty directory or file at each place. proot looks places up in it, and therefore
 * neither follows a link of the workspace nor creates anything anywhere.
 */
export function createSkeleton(
  directory: string,
  places: Iterable<Place>,
  links: Iterable<{ readonly at: string; readonly target: string }> = [],
  mode = 0o555,
): void {
  mkdirSync(directory, { mode: 0o700 })
  const made = new Set<string>()
  for (const { at, type } of places) {
    const parts = at.split('/').filter((part) => part !== '')
    parts.forEach((_, index) => {
      const path = join(directory, ...parts.slice(0, index + 1))
      if (made.has(path)) return
      made.add(path)
      if (index < parts.length - 1 || type === 'directory') mkdirSync(path)
      else writeFileSync(path, '', { mode: 0o444 })
    })
  }
  for (const { at, target } of links) symlinkSync(target, join(directory, at))
  for (const path of made) closeDirectory(path, mode)
  closeDirectory(directory, mode)
}

function closeDirectory(path: string, mode: number): void {
  try {
    chmodSync(`${path}/.`, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error
  }
}
