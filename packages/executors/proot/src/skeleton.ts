import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createWhole } from './runtime-directory.ts'

export interface BindTarget {
  readonly at: string
  readonly type: 'directory' | 'file'
}

/** Creates empty entries for proot's lookups. proot then follows no link of the workspace, and creates no entries there. */
export function createSkeleton(
  directory: string,
  places: Iterable<BindTarget>,
  links: Iterable<{ readonly at: string; readonly target: string }> = [],
  mode = 0o555,
): void {
  createWhole(directory, () => makeMountPoints(directory, places, links, mode))
}

function makeMountPoints(
  directory: string,
  places: Iterable<BindTarget>,
  links: Iterable<{ readonly at: string; readonly target: string }>,
  mode: number,
): void {
  const directories = new Set<string>()
  for (const { at, type } of places) {
    const parts = at.split('/').filter((part) => part !== '')
    parts.forEach((_, index) => {
      const path = join(directory, ...parts.slice(0, index + 1))
      if (directories.has(path)) return
      if (index === parts.length - 1 && type === 'file') {
        writeFileSync(path, '')
        return
      }
      mkdirSync(path)
      directories.add(path)
    })
  }
  for (const { at, target } of links) symlinkSync(target, join(directory, at))
  // Sets modes after filling, because the umask can change modes at creation.
  for (const path of directories) chmodSync(path, mode)
  chmodSync(directory, mode)
}

/** Keeps skeletons for later commands with the same paths. Commands cannot write to them, and creating a skeleton is the slowest step. */
export class SkeletonCache {
  readonly #directory: string
  readonly #made = new Map<string, string>()

  constructor(directory: string) {
    this.#directory = directory
  }

  get(places: readonly BindTarget[], links: readonly { readonly at: string; readonly target: string }[]): string {
    const key = JSON.stringify([places.map(({ at, type }) => [at, type]), links])
    const known = this.#made.get(key)
    if (known !== undefined) {
      // A command of the same uid may have changed the mode of its `/`.
      chmodSync(known, 0o555)
      return known
    }
    const path = join(this.#directory, `root-${this.#made.size}`)
    createSkeleton(path, places, links)
    this.#made.set(key, path)
    return path
  }
}
