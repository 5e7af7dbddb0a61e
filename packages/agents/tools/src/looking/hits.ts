import type { VirtualPath } from '@ws/core'
import type { SearchHit } from '@ws/core/adapter'

import type { Call } from '../session/session.ts'
import { decodeHits } from './decode-hits.ts'
import { literalToo, noteUnreadable, Omitted } from './left-out.ts'

export interface HitsRequest {
  readonly in: VirtualPath
  readonly glob: string | readonly string[] | undefined
  /** Include entries hidden by ignore files and `.git`. */
  readonly ignored: boolean | undefined
  readonly regex: boolean
  readonly caseSensitive: boolean
  readonly mode: 'content' | 'files' | 'count'
  readonly limit: number
  readonly skip: number
}

export interface Hit {
  readonly path: VirtualPath
  readonly line: number
  readonly text: string
  /** Characters, from 1. */
  readonly column: number
  readonly part?: SearchHit['part']
  readonly count?: number | undefined
}

/** Limit of matching lines that are counted for `files` and `count`. */
const mostLines = 1_000_000

export async function collectHits(
  call: Call,
  pattern: string,
  { mode, limit, skip, glob, ignored = false, ...query }: HitsRequest,
): Promise<{ readonly hits: readonly Hit[]; readonly more: boolean; readonly omitted: Omitted }> {
  const { signal, workspace } = call
  const maxHits = mode === 'content' ? skip + limit + 1 : mostLines
  const omitted = new Omitted()
  const found = workspace.search(pattern, {
    ...query,
    glob: typeof glob === 'string' ? literalToo(glob) : glob,
    gitignore: !ignored,
    maxHits,
    signal,
    onLeftOut: (path) => omitted.add(path),
    onUnreadable: (_path, error) => noteUnreadable(call, error),
  })
  if (mode === 'content') {
    const hits: Hit[] = []
    let passed = 0
    for await (const hit of found) {
      passed += 1
      if (passed > skip) hits.push(hit)
    }
    const more = hits.length > limit
    return { hits: await decodeHits(call, more ? hits.slice(0, limit) : hits), more, omitted }
  }
  const files = new Map<string, Hit & { count: number }>()
  for await (const hit of found) {
    const known = files.get(hit.path)
    if (known !== undefined) known.count += 1
    else files.set(hit.path, { path: hit.path, line: hit.line, text: hit.text, column: hit.column, count: 1 })
    if (mode === 'files' && files.size > skip + limit) break
  }
  const all = [...files.values()].slice(skip)
  return { hits: all.slice(0, limit), more: all.length > limit, omitted }
}
