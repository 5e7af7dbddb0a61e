import { isWorkspaceError, paths, type Workspace } from '@ws/core'
import { z } from 'zod'

import type { PartName, Provisioned } from './types.ts'

export const markerName = '.workspace_configured'
const markerOf = ({ root }: Workspace): string => paths.join(root, paths.parseMount(markerName))

const partNames = ['.venv', '.bashrc', '.profile', 'package.json', 'template'] as const satisfies readonly PartName[]
const part = z.enum(partNames)
const schema = z.object({
  version: z.literal(1),
  made: z.array(part),
  leftOut: z.array(z.object({ part, reason: z.string() })),
})

/** Returns `undefined` for a missing or unreadable marker: the thread is then provisioned again. */
export async function readMarker(workspace: Workspace): Promise<Provisioned | undefined> {
  try {
    const text = await workspace.readText(markerOf(workspace), { maxBytes: 64 * 1024 })
    return schema.safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    if (isWorkspaceError(error) && ['ENOENT', 'EISDIR', 'EINVAL', 'EFBIG'].includes(error.code)) return undefined
    throw error
  }
}

export async function writeMarker(workspace: Workspace, { made, leftOut }: Provisioned): Promise<void> {
  await workspace.write(markerOf(workspace), `${JSON.stringify({ version: 1, made, leftOut }, undefined, 2)}\n`)
}
