import type { MountPath, SignalOption } from '@ws/core/adapter'

import type { FirstCopy } from './first-copy.ts'
import { bringBack, keepHashes, setDatabasesAside } from './foreign.ts'
import { type Order, orderOf } from './order.ts'
import { pullEntry } from './pull.ts'
import { differences, type Remote } from './remote.ts'
import type { Site, Step } from './site.ts'
import type { Steps } from './steps.ts'

type Listing = ReadonlyMap<string, Remote>

export interface BringOptions extends SignalOption {
  /** Files that are new to this machine are copied in the background. */
  readonly later: boolean
  readonly list: () => Promise<Listing>
}

/**
 * Brings the store's changes to this machine: new names, then replaced names, then deletions. If another machine pushes during a listing,
 * the listing can show a newer name but miss an older one. A second listing before any deletion shows both.
 * Returns the last listing.
 */
export async function bring(site: Site, steps: Steps, copy: FirstCopy, options: BringOptions): Promise<Listing> {
  const { signal, later, list } = options
  const { base, seen } = site.tree
  let listed = await list()
  const run = (path: MountPath): Promise<Step> => pullEntry(site, path, listed.get(path), { signal })
  const { directories, waves, inTheWay, late, gone } = await order(site, steps, copy, { listed, signal })
  await steps.inTurn(directories, run)
  const waiting = new Map<MountPath, Remote>()
  for (const path of later ? waves.flat() : []) {
    const remote = listed.get(path)
    if (remote !== undefined && !base.has(path) && !seen.has(path)) waiting.set(path, remote)
  }
  const now = waves.map((wave) => wave.filter((path) => !waiting.has(path)))
  await site.packs.load(listed, now.flat(), signal)
  for (const wave of now) if (!steps.isHalted) await steps.each(wave, run)
  copy.begin(waiting, listed)
  if (!later && now.some(({ length }) => length > 0) && !steps.isHalted) {
    listed = await list()
    const missed = await order(site, steps, copy, { listed, signal })
    await steps.inTurn(missed.directories, run)
    await steps.each(
      missed.waves.flat().filter((path) => !seen.has(path)),
      run,
    )
  }
  if (!steps.isHalted) {
    await steps.inTurn([...inTheWay, ...late], run)
    await steps.inTurn(
      gone.flat().filter((path) => !listed.has(path)),
      run,
    )
  }
  // an entry that failed is listed again
  if (steps.changed.size > 0) steps.differs = true
  return listed
}

async function order(
  site: Site,
  steps: Steps,
  copy: FirstCopy,
  { listed, signal }: SignalOption & { readonly listed: Listing },
): Promise<Order> {
  const { tree, limits } = site
  const paths = new Set<MountPath>()
  await bringBack(site, async () => listed, { signal })
  await keepHashes(site, listed)
  await setDatabasesAside(site, listed, { signal })
  for (const path of differences(listed, tree.base, limits).keys() as Iterable<MountPath>) {
    if (tree.isUnknown(path) || tree.notHeld.has(path)) continue
    if (!copy.waitsFor(path)) paths.add(path)
    // a program has meanwhile made an entry at this path
    else if (tree.seen.has(path)) {
      await steps.one(path, async () => {
        await copy.need(path, 'entry', signal)
        return 'done'
      })
    }
  }
  return orderOf({ paths, before: (path) => tree.seen.get(path)?.type, after: (path) => listed.get(path)?.type })
}
