import { closeSync } from 'node:fs'

const mostOpen = 64

export interface Level {
  readonly path: string
  readonly names: readonly string[]
  /** Absent while the descriptor is closed, during the walk below. */
  fd: number | undefined
  next: number
}

export interface WalkOptions {
  readonly entry: (parent: number, path: string, name: string) => Level | undefined
  /** Opens a directory again. If it returns `undefined`, the walk skips the remaining names. */
  readonly openAgain: (path: string) => number | undefined
}

/** Walks a directory and everything below it, by name. Closes all descriptors at the end. */
export function walk(first: Level | undefined, { entry, openAgain }: WalkOptions): void {
  const levels = first === undefined ? [] : [first]
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const name = level.names[level.next]
      level.next += 1
      if (name !== undefined) level.fd ??= openAgain(level.path)
      if (name === undefined || level.fd === undefined) {
        close(levels.pop())
        continue
      }
      const below = entry(level.fd, `${level.path}/${name}`, name)
      if (below === undefined) continue
      levels.push(below)
      close(levels.at(-1 - mostOpen)) // @defence a tree so deep that a look takes all descriptors: a walk of 1,500 levels
    }
  } finally {
    for (const level of levels) close(level)
  }
}

function close(level: Level | undefined): void {
  if (level?.fd === undefined) return
  closeSync(level.fd)
  level.fd = undefined
}
