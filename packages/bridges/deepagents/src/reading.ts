import { WorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { lineWindow } from '@ws/tools/bridge'
import type { BackendProtocolV2, ReadResult } from 'deepagents'

import { orFault } from './errors.ts'
import { mediaTypeOf, decodeText, textTypeOf } from './kinds.ts'

/** Lines of a read without a limit, as in the protocol. */
const defaultLimit = 500
/** Bytes of the longest text that is read as a whole. A longer text is streamed, and its lines are not counted. */
const wholeBytes = 8 * 1024 * 1024
/** deepagents' message for an empty file, shown without a line number. */
const emptyWords = 'System reminder: File exists but has empty contents'

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
  if (media !== undefined) return { content: (await workspace.read(path)).bytes, mimeType: media }
  const mimeType = textTypeOf(path)
  const { size } = await workspace.stat(path, { followLinks: true })
  if (size > wholeBytes) return { ...(await readLines(workspace, path, offset, limit)), mimeType }
  const text = decodeText((await workspace.read(path, { maxBytes: wholeBytes })).bytes)
  if (text === undefined) throw notText(path)
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
