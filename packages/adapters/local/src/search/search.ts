import { paths } from '@ws/core'
import {
  type GlobFilter,
  type MountPath,
  type Owner,
  type SearchHit,
  createGlobFilter,
  type DriverOptions,
  type AdapterOptions,
} from '@ws/core/adapter'
import { type LineMatcher, createLineMatcher } from '@ws/text-search'

import { release, statusOf } from '../confine/handle.ts'
import { openEntry } from '../confine/open.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { throwLink } from '../confine/walk.ts'
import { failure, translate } from '../errors.ts'
import type { Status } from '../host/calls.ts'
import { Listing } from '../read/listing.ts'
import type { Resources } from '../resources.ts'
import { isTempName } from '../confine/hidden.ts'
import { searchFile } from './file.ts'
import { findCandidates } from './ripgrep.ts'

export interface SearchParts {
  readonly query: DriverOptions.Query
  readonly onUnreadable: AdapterOptions.Search['onUnreadable']
  readonly owner: Owner | undefined
  readonly resources: Resources
  readonly maxPathBytes: number
  readonly begin: () => Task
}

export interface Search {
  readonly query: DriverOptions.Query
  readonly matcher: LineMatcher
  readonly globs: GlobFilter
  readonly maxHits: number
  readonly maxFileBytes: number
  readonly isExcluded: (path: MountPath) => boolean
  readonly onUnreadable: AdapterOptions.Search['onUnreadable']
  heldFiles: number
}

/** Matching lines, from one matcher over verified reads. ripgrep only selects the files to read. */
export async function* searchTree(parts: SearchParts): AsyncGenerator<SearchHit, void, undefined> {
  const task = parts.begin()
  try {
    const search = prepare(parts)
    let left = search.maxHits
    for await (const path of filesOf(task, parts, search)) {
      for await (const hit of searchFile(task, path, search, parts.resources)) {
        if (left === 0) return
        left -= 1
        yield { path, ...hit }
        if (left === 0) return
      }
    }
  } catch (error) {
    throw translate(error, task)
  }
}

function prepare({ query, onUnreadable }: SearchParts): Search {
  const { pattern, regex, caseSensitive, glob, exclude, maxHits, maxFileBytes } = query
  return {
    query,
    matcher: createLineMatcher({ pattern, regex, caseSensitive }),
    globs: createGlobFilter(glob),
    maxHits,
    maxFileBytes,
    isExcluded: (path) => exclude.some((prefix) => paths.isWithin(path, prefix)),
    onUnreadable,
    heldFiles: 0,
  }
}

async function* filesOf(task: Task, parts: SearchParts, search: Search): AsyncGenerator<MountPath, void, undefined> {
  if (search.maxHits === 0) return
  const status = await statusAt(task)
  if (search.isExcluded(task.path)) return
  if (status.isFile()) yield task.path
  else if (status.isDirectory()) yield* filesBelow(task, parts, search)
  else throw failure(task, 'EINVAL', 'is neither a file nor a directory, and cannot be searched')
}

async function statusAt(task: Task): Promise<Status> {
  const target = targetOf(task, task.path)
  for (;;) {
    const handle = await openEntry(task, target)
    let status: Status
    try {
      status = await statusOf(task, handle)
    } finally {
      await release(task, handle)
    }
    if (!status.isSymbolicLink()) return status
    await throwLink(task, target)
  }
}

/** Yields ripgrep's files first. A listing finds the other files if ripgrep could not read everything. */
async function* filesBelow(task: Task, parts: SearchParts, search: Search): AsyncGenerator<MountPath, void, undefined> {
  const seen = new Set<MountPath>()
  const candidates = await findCandidates(task, parts, search)
  if (candidates !== undefined) {
    for await (const path of candidates.paths) {
      if (!isWanted(task, search, path) || seen.has(path)) continue
      seen.add(path)
      yield path
    }
    if (candidates.complete()) return
  }
  const { exclude, skips } = search.query
  const { resources, maxPathBytes } = parts
  const listing = new Listing({
    recursive: true,
    exclude,
    resources,
    maxPathBytes,
    onUnreadable: (_directory, error) => {
      if (error.code !== 'EACCES') throw error
    },
    skips: (path) => search.globs.excludes(relativePath(task, path)) || skips?.(path, true) === true,
    begin: () => task,
  })
  for await (const { path, type, unreachable } of listing) {
    if (type === 'file' && unreachable !== true && !seen.has(path) && isWanted(task, search, path)) yield path
  }
}

function isWanted(task: Task, { query, globs, isExcluded }: Search, path: MountPath): boolean {
  if (!globs.matches(relativePath(task, path)) || isExcluded(path)) return false
  return query.skips?.(path, false) !== true && !path.split('/').some(isTempName)
}

function relativePath(task: Task, path: MountPath): string {
  return task.path === '/' ? path.slice(1) : path.slice(task.path.length + 1)
}
