import { WorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { lineWindow, readImage, type ModelImage } from '@ws/tools/bridge'
import type { BackendProtocolV2, ReadResult } from 'deepagents'

import { orFault } from './errors.ts'
import { mediaTypeOf, decodeText, textTypeOf } from './kinds.ts'

/** Lines of a read without a limit, as in the protocol. */
const defaultLimit = 500
/** Bytes of the longest text that is read as a whole. A longer text is streamed, and its lines are not counted. */
const wholeBytes = 8 * 1024 * 1024
/** deepagents' message for an empty file, shown without a line number. */
const emptyWords = 'System reminder: File exists but has empty contents'

/** Types of images that only the content decides on: models refuse an image of another type than its own. */
const shownTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

type Reading = Pick<BackendProtocolV2, 'read' | 'readRaw'>

export function createReading(workspace: Workspace): Reading {
  return {
    read: (path, offset = 0, limit = defaultLimit) =>
      orFault(path, () => readWindow(workspace, path, wholeFrom(offset), wholeFrom(limit))),
    readRaw: (path) =>
      orFault(path, async () => {
        const { bytes, stat } = await workspace.read(path)
        const media = mediaTypeOf(path)
        const text = media === undefined ? decodeText(bytes) : undefined
        const time = new Date(stat.modifiedAt ?? 0).toISOString()
        const mimeType = media ?? (text === undefined ? 'application/octet-stream' : textTypeOf(path))
        return { data: { content: text ?? bytes, mimeType, created_at: time, modified_at: time } }
      }),
  }
}

/** Clamps a number of lines to a whole number ≥ 0; invalid values become 0. */
function wholeFrom(given: number): number {
  return Number.isFinite(given) ? Math.max(0, Math.floor(given)) : 0
}

async function readWindow(workspace: Workspace, path: string, offset: number, limit: number): Promise<ReadResult> {
  const media = mediaTypeOf(path)
  const isNamedImage = media !== undefined && shownTypes.has(media)
  if (media !== undefined && !isNamedImage) return { content: (await workspace.read(path)).bytes, mimeType: media }
  const named = isNamedImage ? await imageOf(workspace, path) : undefined
  if (named !== undefined) return named
  const mimeType = textTypeOf(path)
  const { size } = await workspace.stat(path, { followLinks: true })
  if (size > wholeBytes) return { ...(await readLines(workspace, path, offset, limit)), mimeType }
  const text = decodeText((await workspace.read(path, { maxBytes: wholeBytes })).bytes)
  if (text === undefined) {
    const image = await imageOf(workspace, path)
    if (image === undefined) throw notText(path)
    return image
  }
  if (text === '') return { content: emptyWords, mimeType }
  if (limit === 0) return { content: '', mimeType }
  const { text: content, startLine, endLine, totalLines, nextOffset } = lineWindow(text, { offset, limit })
  if (offset >= totalLines) throw behindEnd(path, offset, totalLines)
  const isFull = endLine - startLine + 1 === limit
  return {
    content: isFull ? content.replace(/\n$/u, '') : content,
    mimeType,
    totalLines,
    startLine,
    endLine,
    ...(nextOffset !== undefined && { nextOffset }),
  }
}

async function imageOf(workspace: Workspace, path: string): Promise<ReadResult | undefined> {
  const image = await readImage(workspace, path)
  return image && shown(image)
}

const shown = ({ bytes, type }: ModelImage): ReadResult => ({ content: bytes, mimeType: type })

async function readLines(workspace: Workspace, path: string, offset: number, limit: number): Promise<ReadResult> {
  if (limit === 0) return { content: '' }
  const { lines, offset: first, nextOffset } = await workspace.readLines(path, { offset, limit })
  if (lines.length === 0) throw behindEnd(path, offset, first)
  return {
    content: lines.join('\n'),
    startLine: first + 1,
    endLine: first + lines.length,
    ...(nextOffset !== undefined && { nextOffset }),
  }
}

function notText(path: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'read',
    path,
    reason: 'is a binary file',
    remedy: 'look at it with a command, or download it',
  })
}

function behindEnd(path: string, offset: number, lines: number): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'read',
    path,
    reason: `has ${lines} lines; line offset ${offset} exceeds file length`,
    remedy: `use an offset below ${lines}`,
  })
}
