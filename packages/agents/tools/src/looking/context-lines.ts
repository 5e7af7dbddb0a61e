import { isWorkspaceError } from '@ws/core'
import type { VirtualPath } from '@ws/core'

import type { Call } from '../session/session.ts'
import { inLine } from '../text/frame.ts'
import { clipLine } from '../text/numbered.ts'
import type { Hit } from './hits.ts'
import { showHit } from './show-hit.ts'

export interface ContextSize {
  readonly before: number
  readonly after: number
}

const mostLines = 200_000

/** Matches with context as in grep: `path:12:match`, `path-13-beside`, and `--` between groups. */
export async function contextLines(call: Call, hits: readonly Hit[], size: ContextSize): Promise<string> {
  const groups: string[] = []
  for (const [path, matches] of byFile(hits)) {
    const lines = await readLines(call, path, matches, size)
    const shown = call.show(path)
    const near = new Set<number>()
    for (const { line } of matches) {
      for (let at = line - size.before; at <= line + size.after; at += 1) if (lines.has(at)) near.add(at)
    }
    const texts = new Map(matches.map((hit) => [hit.line, showHit(hit)]))
    for (const line of texts.keys()) near.add(line)
    let last = 0
    for (const line of [...near].toSorted((left, right) => left - right)) {
      if (groups.length > 0 && line !== last + 1) groups.push('--')
      const match = texts.get(line)
      const mark = match === undefined ? '-' : ':'
      groups.push(`${shown}${mark}${line}${mark}${match ?? inLine(clipLine(lines.get(line) ?? '').text)}`)
      last = line
    }
  }
  return groups.join('\n')
}

function byFile(hits: readonly Hit[]): Map<VirtualPath, Hit[]> {
  const files = new Map<VirtualPath, Hit[]>()
  for (const hit of hits) {
    const known = files.get(hit.path)
    if (known === undefined) files.set(hit.path, [hit])
    else known.push(hit)
  }
  return files
}

async function readLines(
  call: Call,
  path: VirtualPath,
  matches: readonly Hit[],
  { before, after }: ContextSize,
): Promise<Map<number, string>> {
  const first = Math.max(1, Math.min(...matches.map(({ line }) => line)) - before)
  const last = Math.max(...matches.map(({ line }) => line)) + after
  const limit = Math.min(last - first + 1, mostLines)
  try {
    const { lines } = await call.workspace.readLines(path, { offset: first - 1, limit, signal: call.signal })
    return new Map(lines.map((line, index) => [first + index, line]))
  } catch (error) {
    if (isWorkspaceError(error)) return new Map()
    throw error
  }
}
