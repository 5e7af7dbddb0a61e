import { dirname } from 'node:path/posix'

import type { Checkpoints } from '@ws/core/adapter'

/** A path with the names of two states. Equal names mean equal states, apart from times. `undefined`: no entry. */
export interface Named {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

interface State extends Pick<Checkpoints.EntryState, 'type' | 'size' | 'mode' | 'target' | 'content'> {
  /** Distinguishes files whose bytes were not saved. */
  readonly time?: number | undefined
}

export function nameOf(state: State | undefined): string | undefined {
  if (state === undefined) return undefined
  const { type, size, mode, target, content, time } = state
  return [type, mode, target, ...(type === 'file' ? [content ?? `${size} at ${Math.trunc(time ?? 0)}`] : [])].join(' ')
}

/**
 * Returns how the origin stands to each change of a fork, since the checkpoint that both share.
 * @param ours the changes of the origin
 * @param shared returns the name of an unchanged path of the origin
 */
export function standings(
  theirs: readonly Named[],
  ours: readonly Named[],
  shared: (path: string) => string | undefined,
): Map<string, Checkpoints.ForkDifference['ours']> {
  const own = new Map(ours.map((one) => [one.path, one]))
  const filled = new Set<string>()
  for (const { path, after } of ours)
    for (let at = path; after !== undefined && at !== '/'; ) filled.add((at = dirname(at)))
  const found = new Map<string, Checkpoints.ForkDifference['ours']>()
  /** Whether the origin has a directory for a new entry, or gets it by the merge. */
  const hasDirectory = (path: string): boolean => {
    const standing = found.get(path)
    if (standing === 'unchanged') return true
    if (own.has(path)) return isDirectory(own.get(path)?.after)
    return standing === undefined || isDirectory(shared(path))
  }
  const standing = ({ path, before, after }: Named): Checkpoints.ForkDifference['ours'] => {
    const { before: was, after: now } = own.get(path) ?? { before: shared(path), after: shared(path) }
    if (now === after) return 'same'
    // the copy may have caught a later state than the checkpoint
    if (now !== was || was !== before) return 'changed'
    if (!isDirectory(after) && filled.has(path)) return 'changed'
    return after === undefined || hasDirectory(dirname(path)) ? 'unchanged' : 'changed'
  }
  // directories before their entries
  for (const one of theirs.toSorted((left, right) => left.path.length - right.path.length))
    found.set(one.path, standing(one))
  return found
}

/** Returns the removed paths of one mount whose entries are at another path now, with that path. */
export function movesIn(differences: readonly Checkpoints.Difference[]): Map<string, string> {
  const there = new Map(differences.map(({ path, after }) => [after?.identity, path]))
  there.delete(undefined)
  return new Map(
    differences.flatMap(({ path, before, after }) => {
      const to = after === undefined ? there.get(before?.identity) : undefined
      return to === undefined ? [] : [[path, to] as const]
    }),
  )
}

function isDirectory(name: string | undefined): boolean {
  return name?.startsWith('directory') === true
}
