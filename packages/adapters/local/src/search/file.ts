import { isWorkspaceError } from '@ws/core'
import { LinkSignal, type MountPath, type ReadStreamResult } from '@ws/core/adapter'
import { type LineHit, type LineSearchOptions, tooLargeToSearch } from '@ws/text-search'

import { release } from '../confine/handle.ts'
import { openFile } from '../confine/open.ts'
import { type Task, targetOf, taskAt } from '../confine/task.ts'
import { translate } from '../errors.ts'
import { isImmediate } from '../host/calls.ts'
import { smallBytes } from '../host/constants.ts'
import { ownTurn, spend } from '../host/pace.ts'
import { fileAtOnce, readFile } from '../read/read.ts'
import { readFileStream } from '../read/read-stream.ts'
import type { Resources } from '../resources.ts'
import type { Search } from './search.ts'

const chunkBytes = 32_768

/** Limit of leased files for which a search waits. Each wait takes a fraction of a second. */
const waitedFor = 5

/** The matching lines of one file; none if the file vanished, changed its type, or is unreadable. */
export async function* searchFile(
  searching: Task,
  path: MountPath,
  search: Search,
  resources: Resources,
): AsyncGenerator<LineHit, void, undefined> {
  const task = taskAt(searching, path, { isPatient: search.heldFiles < waitedFor })
  task.signal?.throwIfAborted()
  await ownTurn()
  const small = isImmediate(task.calls) ? fileAtOnce(task.tree, task.calls, path) : undefined
  if (small !== undefined) {
    if (isSearched(task, search, small.bytes.length)) yield* matchesIn(task, small.bytes, search)
    return
  }
  const size = await orNothing(task, search, sizeOf(task))
  if (size === undefined || size === 0 || !isSearched(task, search, size)) return
  if (size <= smallBytes) {
    const content = await orNothing(task, search, readFile(task, {}))
    if (content !== undefined) yield* matchesIn(task, content.bytes, search)
    return
  }
  const content = await orNothing(task, search, readFileStream(task, {}, resources, chunkBytes))
  if (content !== undefined) yield* search.matcher.searchChunks(fairly(content), optionsOf(task, search))
}

async function* matchesIn(task: Task, bytes: Uint8Array, search: Search): AsyncGenerator<LineHit, void, undefined> {
  const start = performance.now()
  yield* search.matcher.searchBytes(bytes, optionsOf(task, search))
  spend(Math.min(performance.now() - start, 1))
}

function isSearched({ path }: Task, { maxFileBytes, onUnreadable }: Search, size: number): boolean {
  if (size <= maxFileBytes) return true
  onUnreadable?.(path, tooLargeToSearch(path, size, maxFileBytes))
  return false
}

function optionsOf({ path, signal }: Task, { onUnreadable }: Search): LineSearchOptions {
  return { path, signal, onPartial: (error) => onUnreadable?.(path, error) }
}

async function sizeOf(task: Task): Promise<number> {
  const { handle, status } = await openFile(task, targetOf(task, task.path))
  await release(task, handle)
  return Number(status.size)
}

/** Awaits `work`. `undefined` for an entry that changed or is unreadable: a tree changes during a search. */
async function orNothing<Result>(task: Task, search: Search, work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    const known = translate(error, task)
    if (isWorkspaceError(known, 'EBUSY')) {
      if (task.path === search.query.in) throw error
      search.heldFiles += 1
      search.onUnreadable?.(task.path, known) // @defence a file under another process's lease: left out of a search
    }
    if (known instanceof LinkSignal) return undefined
    const isChange = ['ENOENT', 'ENOTDIR', 'EISDIR', 'EINVAL', 'EBUSY', 'EACCES'] as const
    if (isChange.some((code) => isWorkspaceError(known, code))) return undefined
    throw error
  }
}

/** Passes chunks on, and gives the event loop its turns. */
async function* fairly({ stream }: ReadStreamResult): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of stream) {
    const start = performance.now()
    yield chunk
    spend(performance.now() - start)
    await ownTurn()
  }
}
