import type { Stat } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { linkAt, type LinkTask } from '../links/find.ts'
import type { Store } from '../store/store.ts'
import { lookUpReal, type RealFound } from '../objects/lookup-real.ts'
import { linkStat } from '../headers/stat.ts'

export type Resolved =
  | RealFound
  | { readonly type: 'symlink'; readonly stat: Stat; readonly target: string | undefined }

/** Looks up an entry with two requests at once. A directory hides an object of its name. @throws LinkSignal for a link above */
export async function lookUp(store: Store, path: MountPath, task: LinkTask): Promise<Resolved | undefined> {
  const real = await lookUpReal(store, path, task)
  if (real !== undefined || !store.links) return real
  const link = await linkAt(store, path, task)
  return link === undefined ? undefined : { type: 'symlink', stat: linkStat(link.state), target: link.target }
}
