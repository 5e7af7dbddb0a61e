import type { StorageAdapter } from '../adapter/contract.ts'
import { isWorkspaceError } from '../errors.ts'
import { joinPath } from '../path/virtual-path.ts'
import type { FileOperation, Need } from '../policy/types.ts'
import type { Context } from './context.ts'
import type { Located } from './gate.ts'

/**
 * Asks the policy for every entry of a tree before a recursive operation touches any, where some rule can only be judged
 * entry by entry. Costs nothing where subtree rules are all there is: those are checked by path alone.
 */
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
