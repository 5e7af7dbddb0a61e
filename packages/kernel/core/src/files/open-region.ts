import type { StorageAdapter } from '../contract/adapter.ts'
import type { InnerListOptions } from '../contract/inner.ts'
import { joinPath } from '../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'
import type { Context } from '../calls/context.ts'
import type { Located } from '../mount/gate.ts'
import type { WorkspaceListOptions } from '../contract/file-door.ts'
import { depthOf, skippedIn } from './regions.ts'
import type { Region } from './regions.ts'

export interface RegionLimits extends Pick<WorkspaceListOptions, 'recursive' | 'details' | 'signal'> {
  readonly excluded: readonly VirtualPath[]
  /** The maximum depth, as {@link depthOf} counts. */
  readonly deepest: number
  /** Called for an unreadable directory below the start, which the listing then skips. Default: the listing rejects. */
  readonly onUnreadable?: ((directory: VirtualPath) => void) | undefined
}

export async function openRegion(
  context: Context,
  located: Located,
  adapter: StorageAdapter | undefined,
  { recursive: isRecursive, details, signal, excluded, deepest, onUnreadable }: RegionLimits,
): Promise<Region> {
  const { virtual, mount } = located
  if (adapter === undefined || mount === undefined) {
    return { start: virtual, mount: undefined, entries: undefined, first: undefined }
  }
  const recursive = isRecursive === true && depthOf(virtual) + 1 < deepest
  const exclude = recursive ? skippedIn(context, virtual, mount, excluded) : []
  const { gate } = context
  const judges = recursive && gate.judgesEntriesBelow(virtual)
  // Omits all entries below a directory whose listing is denied.
  const skips = (directory: MountPath): boolean => {
    const path = joinPath(mount.at, directory)
    if (depthOf(path) >= deepest) return true
    return judges && gate.decide({ operation: 'list', path, need: 'read' }).effect === 'deny'
  }
  const isLimited = judges || (recursive && deepest < Number.POSITIVE_INFINITY)
  const listOptions: InnerListOptions = {
    ...{ recursive, details, signal, exclude, skips: isLimited ? skips : undefined },
    onUnreadable: onUnreadable && ((directory) => onUnreadable(joinPath(mount.at, directory))),
  }
  const entries = adapter.list(located.path, listOptions)
  return { start: virtual, mount, entries, first: await entries.next() }
}
