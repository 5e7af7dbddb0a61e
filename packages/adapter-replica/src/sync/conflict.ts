import type { MountPath } from '@ws/core/adapter'

import type { ReplicaConflict } from '../contract.ts'
import { conflictPath } from './names.ts'
import { agree, look, type Site, type Step } from './site.ts'

/** Names that are tried for one version. */
const attempts = 100

/** Gives this machine's version another name, under which it goes to the store. Then the store's version can take the path. */
export async function keepOurs(site: Site, path: MountPath, kind: ReplicaConflict['kind']): Promise<Step> {
  const { tree, disk, turnstile, machine, onEvent } = site
  const time = Date.now()
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const kept = conflictPath(path, time, machine, attempt)
    if (tree.seen.has(kept) || tree.base.has(kept)) continue
    const conflict: ReplicaConflict = { path, kept, time, kind }
    // noted first: a process that is killed in between leaves a note at most
    await disk.ask('conflict', conflict)
    if (!(await turnstile.alone(() => disk.ask('setAside', path, kept)))) {
      await disk.ask('settle', [kept])
      await look(site, [path])
      if (tree.seen.has(path)) continue
      return 'changed'
    }
    const below = [...tree.base.keys()].filter((one) => one.startsWith(`${path}/`))
    await agree(site, [], [path, ...below])
    await look(site, [path, kept])
    tree.conflicts.set(kept, conflict)
    onEvent({ event: 'conflict', ...conflict })
    return 'done'
  }
  return 'changed'
}
