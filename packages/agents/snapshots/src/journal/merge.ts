import { createHash } from 'node:crypto'

import { type Checkpoints, concurrency, type MountPath } from '@ws/core/adapter'

import { type Named, nameOf, standings } from '../three-way.ts'
import type { Journal } from './journal.ts'
import { atOnce, type Kept, steady } from './kept.ts'

type States = ReadonlyMap<MountPath, Kept | undefined>

export interface JournalFork {
  readonly journal: Journal
  /** The checkpoint that both share. */
  readonly since: string
  /** The fork's current states, for all paths that differ from the shared checkpoint. */
  readonly theirs: States
}

/** Compares the changes of a fork with its origin. Bytes are compared, since equal versions of two stores mean nothing. */
export async function compareJournals(
  origin: Journal,
  { journal, since, theirs }: JournalFork,
  until: string | undefined,
): Promise<{
  readonly ours: ReadonlyMap<string, Checkpoints.ForkDifference['ours']>
  /** The states of the origin. A merge changes a path only while it has this state. */
  readonly seen: States
}> {
  const [ofOrigin, ofFork] = [await origin.layers.since(since), await journal.layers.since(since)]
  const later = until === undefined ? undefined : await origin.layers.since(until)
  const seen = new Map<MountPath, Kept | undefined>()
  const own = new Map<string, Named>()
  await concurrency.forEachOf(new Set([...ofOrigin.keys(), ...theirs.keys()]), atOnce, (path) =>
    steady(async () => {
      const now = later?.has(path) === true ? later.get(path) : await origin.now(path)
      const after = await nameOfKept(now)
      own.set(path, { path, before: ofOrigin.has(path) ? await nameOfKept(ofOrigin.get(path)) : after, after })
      seen.set(path, now)
    }),
  )
  const changes: Named[] = []
  await concurrency.forEachOf(theirs, atOnce, async ([path, now]) => {
    const [before, after] = [await nameOfKept(ofFork.get(path)), await nameOfKept(now)]
    if (before !== after) changes.push({ path, before, after })
  })
  const ours = [...own.values()].filter(({ before, after }) => before !== after)
  return { ours: standings(changes, ours, (path) => own.get(path)?.before), seen }
}

async function nameOfKept(kept: Kept | undefined): Promise<string | undefined> {
  const bytes = await kept?.bytes?.()
  const content = bytes && createHash('sha256').update(bytes).digest('hex')
  return nameOf(kept && { ...kept, content, time: kept.modifiedAt })
}
