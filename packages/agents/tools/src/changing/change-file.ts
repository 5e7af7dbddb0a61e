import { isWorkspaceError, quotePath } from '@ws/core'
import type { Version, VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'

/** Edits a file. After a conflict, computes the change again, for at most 5 s. Records both versions. @returns the current version */
export async function changeFile(
  call: Call,
  path: VirtualPath,
  change: (bytes: Uint8Array) => Uint8Array,
): Promise<Version> {
  const { workspace, signal } = call
  let before: Version | undefined
  const edited = workspace.edit(
    path,
    (bytes, stat) => {
      before = stat.version
      return change(bytes)
    },
    { signal },
  )
  const { version } = await edited.catch((error: unknown) => {
    throw isWorkspaceError(error, 'ECONFLICT') ? busy(path) : error
  })
  call.session.see(path, version)
  if (version !== before) call.record({ change: 'updated', path, before, after: version })
  return version
}

function busy(path: VirtualPath): ToolProblem {
  return new ToolProblem({
    sentence: `${quotePath(path)} was changed by others again and again for 5 s`,
    remedy: 'nothing was changed here; call again',
    next: { operation: 'read', arguments: { path } },
    data: { code: 'ECONFLICT', path },
  })
}
