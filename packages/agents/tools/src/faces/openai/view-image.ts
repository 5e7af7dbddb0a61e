import { quotePath } from '@ws/core'
import { z } from 'zod'

import { ToolProblem } from '../../answers/problem.ts'
import { viewImage } from '../../reading/entry.ts'
import { faceTool, readsOnly } from '../face.ts'
import type { FaceTool } from '../face.ts'

export function viewImageTool(): FaceTool {
  return faceTool({
    name: 'view_image',
    description: 'Shows an image of the workspace: PNG, JPEG, GIF or WebP.',
    input: z.strictObject({ path: z.string().min(1).describe('The path of the image') }),
    example: { path: '/pictures/plan.png' },
    annotations: readsOnly,
    async run(call, { path: given }) {
      const path = await call.resolve('read', given)
      const image = await call.alone([path], () => viewImage(call, path))
      if (image !== undefined) return image
      throw new ToolProblem({
        sentence: `${quotePath(path)} is not a PNG, JPEG, GIF or WebP`,
        remedy: 'read it with a command',
        next: { operation: 'inspect', arguments: { path } },
        data: { code: 'EINVAL', path },
      })
    },
  })
}
