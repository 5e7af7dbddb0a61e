import { join } from 'node:path'

import { makeDirectory } from '../site.ts'

export interface FreshDirectories {
  /** Makes the next one. */
  readonly before: (name: string) => void
  /** The present one, below the directory that all contenders share. */
  readonly of: (name: string) => string
}

/** Directories that are used once each: deletions between rounds would slow down creations in the next. */
export function freshDirectories(directory: string, kind: string): FreshDirectories {
  const numbers = new Map<string, number>()
  const of = (name: string): string => `${kind}-${name}/${numbers.get(name) ?? 0}`
  return {
    of,
    before(name) {
      numbers.set(name, (numbers.get(name) ?? 0) + 1)
      makeDirectory(join(directory, of(name)))
    },
  }
}
