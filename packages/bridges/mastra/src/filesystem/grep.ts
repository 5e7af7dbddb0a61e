import { UnsupportedGrepPatternError } from '@mastra/core/workspace'
import type { FilesystemGrepMatch, FilesystemGrepOptions, FilesystemGrepResult } from '@mastra/core/workspace'
import { isWorkspaceError, paths, type VirtualPath, type Workspace, type WorkspaceSearchHit } from '@ws/core'

import { inMastraWords } from './errors.ts'
import { isHidden } from './listing.ts'
import { translatePattern } from './pattern.ts'

/** Limit of lines found by default. */
const defaultMatches = 10_000

/** Searches in linear time. Throws `UnsupportedGrepPatternError` for a pattern outside RE2: Mastra then searches with its own code. */
export function grep(workspace: Workspace, options: FilesystemGrepOptions): Promise<FilesystemGrepResult[]> {
  const { pattern, path, caseSensitive, includeHidden } = options
  return inMastraWords({ operation: 'grep', path }, async () => {
    const base = await workspace.realPath(path)
    const { type } = await workspace.stat(base)
    const translated = translatePattern(pattern)
    if (translated === undefined) throw new UnsupportedGrepPatternError(pattern, 'it needs a JavaScript engine')
    const most = options.maxTotalMatches ?? defaultMatches
    const found = new Map<VirtualPath, WorkspaceSearchHit[]>()
    let total = 0
    try {
      const search = { in: base, regex: true, caseSensitive, maxHits: Number.MAX_SAFE_INTEGER }
      for await (const hit of workspace.search(translated, search)) {
        if (total >= most) break
        if (type === 'directory' && !includeHidden && isHidden(paths.relativeTo(hit.path, base).slice(1))) continue
        const hits = found.get(hit.path) ?? []
        if (hits.length >= (options.maxCountPerFile ?? Infinity)) continue
        found.set(hit.path, [...hits, hit])
        total += 1
      }
    } catch (error) {
      if (isWorkspaceError(error, 'EINVAL')) throw new UnsupportedGrepPatternError(pattern, error.message)
      throw error
    }
    return Promise.all(
      [...found].map(async ([file, hits]) => ({
        path: type === 'directory' ? paths.relativeTo(file, base).slice(1) : '',
        matches: await Promise.all(hits.map((hit) => matchOf(workspace, hit, options.contextLines ?? 0))),
      })),
    )
  })
}

async function matchOf(
  workspace: Workspace,
  { path, line, column, text }: WorkspaceSearchHit,
  context: number,
): Promise<FilesystemGrepMatch> {
  const match = { line, column: utf16Index(text, column - 1), text }
  if (context < 1) return match
  const offset = Math.max(0, line - 1 - context)
  const { lines } = await workspace.readLines(path, { offset, limit: line - 1 - offset + 1 + context })
  const own = line - 1 - offset
  return { ...match, before: lines.slice(0, own), after: lines.slice(own + 1) }
}

/** Converts an index in code points to UTF-16 units. */
function utf16Index(text: string, characters: number): number {
  let index = 0
  for (let count = 0; count < characters && index < text.length; count += 1) {
    index += (text.codePointAt(index) ?? 0) > 0xff_ff ? 2 : 1
  }
  return index
}
