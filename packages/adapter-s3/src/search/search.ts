import { isWithin, isWorkspaceError } from '@ws/core'
import {
  type Entry,
  type MountPath,
  type SearchHit,
  type DriverSearchQuery,
  type SignalOption,
  createGlobFilter,
  eitherSignal,
  mapInOrder,
} from '@ws/core/adapter'
import { createLineMatcher, type LineHit, type LineMatcher } from '@ws/text-search'
import { translate } from '../client/failures.ts'
import type { Task } from '../client/requests.ts'
import { entriesOf } from '../listing/list.ts'
import { read } from '../files/read.ts'
import { readStream } from '../files/read-stream.ts'
import type { Store } from '../store.ts'

/** Files up to so many bytes are fetched several at a time, larger ones as streams, one after the other. */
const smallBytes = 256 * 1024

/** Lines that match, in the order of keys. Some files ahead are fetched while one is searched. */
export async function* search(
  store: Store,
  query: DriverSearchQuery,
  { signal }: SignalOption,
): AsyncGenerator<SearchHit, undefined> {
  const { in: path, maxHits, maxFileBytes } = query
  const matcher = createLineMatcher(query)
  const stop = new AbortController()
  const combined = eitherSignal(stop.signal, signal)
  const task: Task = { operation: 'search', path, signal: combined }
  let hits = 0
  try {
    const files = filesOf(store, query, { ...task, signal: combined }, maxFileBytes)
    const open = (file: Entry): Promise<LineSource> => openFile(store, file, matcher, task)
    for await (const { path: found, lines } of mapInOrder(files, store.concurrency, open)) {
      for await (const hit of lines) {
        if (hits >= maxHits) return undefined
        hits += 1
        yield { path: found, ...hit }
      }
      if (hits >= maxHits) return undefined
    }
    return undefined
  } catch (error) {
    throw translate(error, 'search', path, signal)
  } finally {
    stop.abort()
  }
}

interface LineSource {
  readonly path: MountPath
  readonly lines: Iterable<LineHit> | AsyncIterable<LineHit>
}

/** The lines of a file; none for a file that vanished meanwhile. */
async function openFile(
  store: Store,
  { path, size = 0 }: Entry,
  matcher: LineMatcher,
  task: Task,
): Promise<LineSource> {
  if (size > smallBytes) return { path, lines: streamLines(store, path, matcher, task) }
  try {
    const { bytes } = await read(store, path, {}, { ...task, path })
    return { path, lines: matcher.searchBytes(bytes, { signal: task.signal, path }) }
  } catch (error) {
    if (isGone(error)) return { path, lines: [] }
    throw error
  }
}

async function* streamLines(store: Store, path: MountPath, matcher: LineMatcher, task: Task): AsyncGenerator<LineHit> {
  try {
    const { stream } = await readStream(store, path, {}, { ...task, path })
    yield* matcher.searchChunks(stream, { signal: task.signal, path })
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

function isGone(error: unknown): boolean {
  return isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'EISDIR')
}

async function* filesOf(
  store: Store,
  { in: path, glob, exclude, skips }: DriverSearchQuery,
  { signal }: Task,
  maxFileBytes: number,
): AsyncGenerator<Entry, undefined> {
  const filter = createGlobFilter(glob)
  const skipped = path === '/' ? 1 : path.length + 1
  const isWanted = ({ path: found, type, size = 0, unreachable }: Entry): boolean =>
    type === 'file' &&
    unreachable !== true &&
    size <= maxFileBytes &&
    filter.matches(found.slice(skipped)) &&
    !exclude.some((root) => isWithin(found, root)) &&
    skips?.(found, false) !== true
  try {
    for await (const entries of entriesOf(store, path, { recursive: true, exclude, signal }, 'search')) {
      for (const entry of entries) if (isWanted(entry)) yield entry
    }
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOTDIR') || exclude.some((root) => isWithin(path, root))) throw error
    // globs do not exclude a file that `in` names
    const { stat } = await statFile(store, path, signal)
    if (stat.size <= maxFileBytes) yield { path, name: '', type: 'file', size: stat.size }
  }
  return undefined
}

async function statFile(
  store: Store,
  path: MountPath,
  signal: AbortSignal | undefined,
): Promise<{ readonly stat: { readonly size: number } }> {
  return read(store, path, { range: { offset: 0, length: 0 } }, { operation: 'search', path, signal })
}
