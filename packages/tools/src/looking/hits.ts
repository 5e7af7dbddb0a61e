import type { VirtualPath, WorkspaceError } from '@ws/core'

import type { Call } from '../session/session.ts'

export interface HitsRequest {
  readonly in: VirtualPath
  readonly glob: string | readonly string[] | undefined
  readonly regex: boolean
  readonly caseSensitive: boolean
  readonly mode: 'content' | 'files' | 'count'
  readonly limit: number
  readonly skip: number
}

/** A matching line; for `files` and `count` a file with its first matching line. */
export interface Hit {
  readonly path: VirtualPath
  readonly line: number
  readonly text: string
  /** Matching lines of the file, for `count`. */
  readonly count?: number | undefined
}

/** Matching lines that are looked at for `files` and `count`. */
const mostLines = 1_000_000

/** Notes of one answer, at which no further file that is left out is named. */
const mostNotes = 10

/** The matches of the workspace's own search [FS14], without the first `skip` ones. */
export async function collectHits(
  call: Call,
  pattern: string,
  { mode, limit, skip, ...query }: HitsRequest,
): Promise<{ readonly hits: readonly Hit[]; readonly more: boolean }> {
  const { signal, workspace } = call
  const maxHits = mode === 'content' ? skip + limit + 1 : mostLines
  const onUnreadable = (_path: VirtualPath, { message }: WorkspaceError): void => {
    if (call.notes.length < mostNotes) call.notes.push(`Left out: ${message}`)
  }
  const found = workspace.search(pattern, { ...query, maxHits, signal, onUnreadable })
  if (mode === 'content') {
    const hits: Hit[] = []
    let passed = 0
    for await (const hit of found) {
      passed += 1
      if (passed > skip) hits.push(hit)
    }
    const more = hits.length > limit
    return { hits: more ? hits.slice(0, limit) : hits, more }
  }
  const files = new Map<string, Hit & { count: number }>()
  for await (const hit of found) {
    const known = files.get(hit.path)
    if (known !== undefined) known.count += 1
    else files.set(hit.path, { path: hit.path, line: hit.line, text: hit.text, count: 1 })
    if (mode === 'files' && files.size > skip + limit) break
  }
  const all = [...files.values()].slice(skip)
  return { hits: all.slice(0, limit), more: all.length > limit }
}
