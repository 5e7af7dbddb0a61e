import { showName } from '@ws/core/executor'
import type { VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'
import { openText } from '../reading/content.ts'
import type { Call } from '../session/session.ts'
import { linesOf } from '../text/lines.ts'
import type { Hit } from './hits.ts'

const mostFiles = 20

/** Decodes lines that are not UTF-8 as `read` does, with a note on each encoding. */
export async function decodeHits(call: Call, hits: readonly Hit[]): Promise<readonly Hit[]> {
  const files = new Map<VirtualPath, readonly string[] | undefined>()
  const left = new Set<VirtualPath>()
  for (const { path, text } of hits) {
    if (!text.includes('\uFFFD') || files.has(path) || left.has(path)) continue
    const lines = files.size < mostFiles ? await foreignLines(call, path) : 'unread'
    if (lines === 'unread') left.add(path)
    else files.set(path, lines)
  }
  const [first, ...others] = left
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  if (first !== undefined) call.notes.push(`In ${showName(first)}${more}, \uFFFD is a byte that is not UTF-8.`)
  return hits.map((hit) => {
    const line = hit.part === undefined ? files.get(hit.path)?.[hit.line - 1] : undefined
    return line === undefined || !hit.text.includes('\uFFFD') ? hit : { ...hit, text: line }
  })
}

async function foreignLines(call: Call, path: VirtualPath): Promise<readonly string[] | 'unread' | undefined> {
  try {
    const file = await openText(call, path)
    if (file.kind === 'large') return 'unread'
    if (file.encoding === 'utf-8') return undefined
    const ground = file.detection === 'guess' ? ', which is a guess' : ''
    call.notes.push(`${showName(path)} is shown as ${file.encoding}${ground}.`)
    return linesOf(file.text)
  } catch (error) {
    if (error instanceof ToolProblem) return 'unread'
    throw error
  }
}
