import type { FileStat, ReadOptions } from '@mastra/core/workspace'
import { isWorkspaceError, paths, type Workspace, WorkspaceError } from '@ws/core'
import { readImage } from '@ws/tools/bridge'
import { isUtf8 } from 'node:buffer'

import { inMastraWords } from './errors.ts'
import { timeOf } from './seen.ts'
import type { SeenVersions } from './seen.ts'

export function readFile(workspace: Workspace, path: string, { encoding }: ReadOptions = {}): Promise<string | Buffer> {
  return inMastraWords({ operation: 'readFile', path }, async () => {
    const { bytes } = await workspace.read(path)
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (encoding === undefined) return buffer
    if (encoding !== 'utf8' && encoding !== 'utf-8') return buffer.toString(encoding)
    // an image that models do not take is refused with its sizes
    if (!isUtf8(buffer)) await readImage(workspace, path, { scale: false })
    return strictText(buffer, path)
  })
}

/** Decodes UTF-8. Refuses other bytes and keeps a byte order mark, so that writing the text back changes no byte. */
function strictText(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'readFile',
      path,
      reason: 'is not UTF-8 text',
      remedy: 'read it without an encoding, or look at it with a command',
    })
  }
}

const imageName = /\.(?:png|jpe?g|gif|webp)$/iu

/** The type of an image that models take as it is: Mastra's tool shows such a file, and reads others as text. */
async function imageType(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    return (await readImage(workspace, path, { scale: false }))?.type
  } catch (error) {
    if (isWorkspaceError(error)) return undefined // reading the file gives the reason
    throw error
  }
}

/** The status of a link's target, with the given name. `createdAt` is the time of the last change. */
export function statFile(workspace: Workspace, seen: SeenVersions, path: string): Promise<FileStat> {
  return inMastraWords({ operation: 'stat', path }, async () => {
    const real = await workspace.realPath(path)
    const stat = await workspace.stat(real)
    seen.see(real, stat)
    const time = timeOf(stat.modifiedAt)
    const mimeType = stat.type === 'file' && imageName.test(real) ? await imageType(workspace, real) : undefined
    const { path: own } = paths.parse(path, { base: workspace.root, operation: 'stat' })
    return {
      name: paths.baseName(typeof own === 'string' ? own : real),
      path: real,
      type: stat.type === 'directory' ? 'directory' : 'file',
      size: stat.size,
      createdAt: new Date(time),
      modifiedAt: new Date(time),
      ...(mimeType !== undefined && { mimeType }),
    }
  })
}
