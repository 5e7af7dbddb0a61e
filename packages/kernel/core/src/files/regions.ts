import type { Entry } from '../contract/file-types.ts'
import type { EntryIterator } from '../contract/inner.ts'
import { isWithin, parentPath, relativeTo } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { READ } from '../policy/access.ts'
import type { Context } from '../calls/context.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'

export interface Region {
  readonly start: VirtualPath
  readonly mount: WorkspaceMount | undefined
  readonly entries: EntryIterator | undefined
  readonly first: IteratorResult<Entry> | undefined
}

/** Returns subtrees that an adapter must not enter: denied, excluded, or hidden by another mount. */
export function skippedIn(
  context: Context,
  start: VirtualPath,
  mount: WorkspaceMount,
  excluded: readonly VirtualPath[],
): ReturnType<typeof relativeTo>[] {
  const { gate } = context
  const skipped = [...excluded]
  for (const node of gate.namespace.below(start)) {
    if (node.reserved || (node.rights & READ) === 0 || node.mount?.at === node.path) skipped.push(node.path)
  }
  return skipped
    .filter((path) => path !== start && isWithin(path, start) && isWithin(path, mount.at))
    .map((path) => relativeTo(path, mount.at))
}

/** Returns the outermost mounts below `start`, except the scratch. */
export function mountsBelow(context: Context, start: VirtualPath): VirtualPath[] {
  const found: VirtualPath[] = []
  for (const node of context.gate.namespace.below(start)) {
    if (node.mount === undefined || node.mount.at !== node.path || node.mount.scratch) continue
    if (!found.some((path) => isWithin(node.path, path))) found.push(node.path)
  }
  return found
}

/** Returns whether every directory from `start` to `path` may be listed. */
export function mayEnter(context: Context, start: VirtualPath, path: VirtualPath): boolean {
  for (let current = path; current !== start; current = parentPath(current)) {
    if (context.gate.decide({ operation: 'list', path: current, need: 'read' }).effect === 'deny') return false
    if (current === '/') break
  }
  return true
}

/** Returns a path relative to the start of a search, for globs. */
export function pathBelow(path: VirtualPath, start: VirtualPath): string {
  return path.slice(start === '/' ? 1 : start.length + 1)
}

export function depthOf(path: VirtualPath): number {
  return path === '/' ? 0 : path.split('/').length - 1
}
