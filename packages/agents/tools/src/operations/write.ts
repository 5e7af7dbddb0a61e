import { quotePath } from '@ws/core'
import { z } from 'zod'

import { putFile } from '../changing/put-file.ts'
import { ToolProblem } from '../answers/problem.ts'
import type { Outcome } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'
import { ifVersion, path } from './fields.ts'
import { operation } from './operation.ts'

export const write = operation({
  name: 'write',
  description:
    'Creates or replaces a whole file with `content`, and makes missing directories. To change a part of a file, use `replace`.',
  input: z.strictObject({
    path,
    content: z.string().describe('The whole content'),
    if_version: ifVersion,
    create_only: z.boolean().optional().describe('Refuse when a file is there. Default false'),
  }),
  example: { path: '/notes/plan.md', content: '# Plan\n' },
  readOnly: false,
  destructive: true,
  idempotent: true,
  handle: (call, input) => writeWhole(call, input),
})

interface Whole {
  readonly path: string
  readonly content: string
  readonly if_version?: string | undefined
  readonly create_only?: boolean | undefined
}

export async function writeWhole(
  call: Call,
  { path: given, content, if_version: wanted, create_only: createOnly = false }: Whole,
  { mode }: { readonly mode?: number } = {},
): Promise<Outcome> {
  const target = await call.resolve('write', given)
  if (createOnly && wanted !== undefined) {
    throw new ToolProblem({
      sentence: '`create_only` and `if_version` are both given',
      remedy: 'nothing was changed; give one of them',
      next: { operation: 'write', arguments: { path: given, content: content.slice(0, 500), create_only: true } },
      data: { code: 'EINVAL', argument: 'create_only' },
    })
  }
  return call.alone([target], async () => {
    const { before, version, size } = await putFile(call, target, content, { createOnly, ifVersion: wanted, mode })
    const done = before === undefined ? 'Created' : 'Updated'
    return {
      text: `${done} ${quotePath(target)} (${size} bytes${call.versioned(`; version ${version}`)}).`,
      data: { path: target, change: done.toLowerCase(), version, size },
    }
  })
}
