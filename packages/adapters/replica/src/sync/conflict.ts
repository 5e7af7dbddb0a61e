import type { MountPath } from '@ws/core/adapter'

import type { ReplicaConflict } from '../contract.ts'
import { conflictPath, stampOf } from './names.ts'
import { agree, rescan, type Site, type Step } from './site.ts'
import { isSameBytes } from './tree.ts'

/** Limit of names that are tried for one version. */
const attempts = 100

/**
 * Renames this machine's version, which is then pushed under its new name. The store's version can take the path.
 *
 * @param word a part of the new name. Default: the time and this machine. Machines that use the same word for a file make one copy
 */
export async function keepOurs(
  site: Site,
  path: MountPath,
  kind: ReplicaConflict['kind'],
  word?: string,
): Promise<Step> {
  const { tree, disk, turnstile, machine, onEvent } = site
  const time = Date.now()
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const kept = conflictPath(path, word ?? `${stampOf(time)}-${machine}`, attempt)
    if (word !== undefined && isSameBytes(tree.base.get(kept), tree.seen.get(path))) return 'done'
    if (tree.seen.has(kept) || tree.base.has(kept)) continue
    const conflict: ReplicaConflict = { path, kept, time, kind }
    // the conflict is recorded first, so that a process killed before the rename leaves only a record
    await disk.ask('conflict', conflict)
    if (!(await turnstile.alone(() => disk.ask('setAside', path, kept)))) {
      await disk.ask('settle', [kept])
      await rescan(site, [path])
      if (tree.seen.has(path)) continue
      return 'changed'
    }
    const below = [...tree.base.keys()].filter((one) => one.startsWith(`${path}/`))
    await agree(site, [], [path, ...below])
    await rescan(site, [path, kept])
    tree.conflicts.set(kept, conflict)
    onEvent({ event: 'conflict', ...conflict })
    return 'done'
  }
  return 'changed'
}
