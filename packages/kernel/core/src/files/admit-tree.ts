import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import type { Version } from '../contract/file-types.ts'
import { isWorkspaceError } from '../errors.ts'
import { joinPath, relativeTo } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { FileOperation, Need } from '../contract/operations.ts'
import type { Context } from '../calls/context.ts'
import type { Located } from '../mount/gate.ts'

/** Checks every entry against the policy before a recursive operation. Not needed for subtree rules, which need only the path. */
export async function admitTree(
  context: Context,
  operation: FileOperation,
  { virtual: root, path, mount }: Located,
  adapter: StorageAdapter,
  needs: readonly Need[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { gate } = context
  if (!gate.judgesEntriesBelow(root) || mount === undefined) return
  try {
    if ((await adapter.stat(path, { signal })).type !== 'directory') return
    for await (const entry of adapter.list(path, { recursive: true, details: true, signal })) {
      const virtual = joinPath(mount.at, entry.path)
      for (const need of needs) gate.admit(operation, virtual, need, entry.size)
    }
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOENT')) throw error
  }
}

/** Checks that every entry below a path may be removed. Returns true if a rule denies this, but the path is a file or a link. */
export async function admitBelowUnlessLeaf(
  { gate }: Context,
  operation: FileOperation,
  { virtual, path }: Located,
  adapter: StorageAdapter,
): Promise<boolean> {
  try {
    gate.admitBelow(operation, virtual, ['write'])
    return false
  } catch (refusal) {
    const found = await adapter.stat(path).catch((error: unknown) => {
      throw error instanceof LinkSignal ? error : refusal
    })
    if (found.type === 'directory') throw refusal
    return true
  }
}

/** A link that may be moved, although rules deny the paths below the link. */
export interface MovableLink extends Located {
  readonly version: Version
}

/** Finds a link that may be moved, only on case-sensitive stores. Its version prevents a move of another entry in its place. */
export async function findMovableLink(context: Context, path: VirtualPath): Promise<MovableLink | undefined> {
  const { gate } = context
  const node = gate.namespace.find(path)
  const { mount } = node
  if (mount?.caseSensitive !== true || !gate.isNamedAround(path)) return undefined
  const inside = relativeTo(path, mount.at)
  try {
    const { type, version } = await (await context.open(mount)).stat(inside)
    if (type !== 'symlink') return undefined
    gate.admitLink('move', path)
    return { virtual: path, node, mount, path: inside, version }
  } catch (error) {
    // The operation itself reports the error of the path.
    if (isWorkspaceError(error) || error instanceof LinkSignal) return undefined
    throw error
  }
}
