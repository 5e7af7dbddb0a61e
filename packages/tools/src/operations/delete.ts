import { isWorkspaceError, quotePath } from '@ws/core'
import { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
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
      try {
        await workspace.delete(target, { recursive: all, signal })
      } catch (error) {
        if (!isWorkspaceError(error, 'ENOTEMPTY')) throw error
        throw new ToolProblem({
          sentence: `${quotePath(target)} is a directory that is not empty`,
          remedy: 'nothing was deleted; look at it, or call again with `recursive`',
          next: { operation: 'delete', arguments: { path: given, recursive: true } },
          data: { code: 'ENOTEMPTY', path: target },
        })
      }
      call.record({ change: 'deleted', path: target, before: version })
      return { text: `Deleted the ${type === 'symlink' ? 'link' : type} ${quotePath(target)}.`, data: { path: target } }
    })
  },
})
