import { isWorkspaceError, quotePath } from '@ws/core'
import type { VirtualPath } from '@ws/core'
import { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'
import { path, recursive } from './fields.ts'
import { operation } from './operation.ts'
import { refuseRoot } from './transfer.ts'

export const remove = operation({
  name: 'delete',
  description: 'Deletes a file, an empty directory, or with `recursive` a directory with everything below it.',
  input: z.strictObject({ path, recursive }),
  example: { path: '/notes/old.md' },
  readOnly: false,
  destructive: true,
  idempotent: false,
  async handle(call, { path: given, recursive: all = false }) {
    const target = await call.resolve('delete', given)
    refuseRoot(call, target, 'delete')
    return call.alone([target], async () => {
      const { workspace, signal } = call
      const { version, type } = await workspace.stat(target, { signal })
      if (type === 'directory' && !all && (await hasEntries(call, target))) throw notEmpty(target)
      await workspace.delete(target, { recursive: all, signal }).catch((error: unknown) => {
        throw isWorkspaceError(error, 'ENOTEMPTY') ? notEmpty(target) : error
      })
      call.record({ change: 'deleted', path: target, before: version })
      return { text: `Deleted the ${type === 'symlink' ? 'link' : type} ${quotePath(target)}.`, data: { path: target } }
    })
  },
})

/** False for an empty directory, and where a listing is refused: the deletion then fails with a better error. */
async function hasEntries({ workspace, signal }: Call, directory: VirtualPath): Promise<boolean> {
  try {
    for await (const _ of workspace.list(directory, { signal })) return true
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
  }
  return false
}

function notEmpty(path: VirtualPath): ToolProblem {
  return new ToolProblem({
    sentence: `${quotePath(path)} is a directory that is not empty`,
    remedy: 'nothing was deleted; look at what it holds',
    next: { operation: 'list', arguments: { path, depth: 1 } },
    data: { code: 'ENOTEMPTY', path },
  })
}
