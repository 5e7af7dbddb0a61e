import { LinkSignal } from '../adapter/link-signal.ts'
import { isWorkspaceError } from '../errors.ts'
import { relativeTo } from '../path/virtual-path.ts'
import type { Context } from '../calls/context.ts'
import { translateError } from '../mount/errors.ts'
import type { WorkspaceEntry } from '../contract/file-door.ts'

/** Returns a link's entry with its target, if the policy allows reading the link and the link still exists. */
export async function readTarget(
  context: Context,
  entry: WorkspaceEntry,
  signal: AbortSignal | undefined,
): Promise<WorkspaceEntry> {
  const { path } = entry
  const { mount } = context.gate.namespace.find(path)
  if (mount === undefined || entry.unreachable) return entry
  if (context.gate.decide({ operation: 'readSymlink', path, need: 'read' }).effect === 'deny') return entry
  try {
    const adapter = await context.open(mount)
    const target = await adapter.readSymlink?.(relativeTo(path, mount.at), { signal })
    return target === undefined ? entry : { ...entry, target }
  } catch (error) {
    if (error instanceof LinkSignal || isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'EINVAL'))
      return entry
    throw translateError(error, { operation: 'list', at: mount.at, path, signal })
  }
}
