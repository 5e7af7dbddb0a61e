import { isWorkspaceError, paths } from '@ws/core'
import {
  concurrency,
  type Entry,
  type MountPath,
  type SearchHit,
  createGlobFilter,
  type DriverOptions,
  type AdapterOptions,
  signals,
} from '@ws/core/adapter'
import {
  createLineMatcher,
  type LineHit,
  type LineMatcher,
  type LineSearchOptions,
  tooLargeToSearch,
} from '@ws/text-search'
import { translate } from '../client/failures.ts'
import { isOutOfReach } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { entriesOf } from '../listing/list.ts'
import { read } from '../files/read.ts'
import { readStream } from '../files/read-stream.ts'
import type { Store } from '../store/store.ts'

/** Size up to which several files are fetched at once. Larger files are fetched as single streams. */
const smallBytes = 256 * 1024

/** Matching lines, in the order of keys. Some files are fetched ahead. */
export async function* search(
  store: Store,
  query: DriverOptions.Query,
  { signal, onUnreadable }: AdapterOptions.Search,
): AsyncGenerator<SearchHit, undefined> {
  const { in: path, maxHits, maxFileBytes } = query
  const matcher = createLineMatcher(query)
  const stop = new AbortController()
  const combined = signals.either(stop.signal, signal)
  const task: Task = { operation: 'search', path, signal: combined }
  let hits = 0
  try {
    const leftOut = (file: MountPath, size: number): void =>
      onUnreadable?.(file, tooLargeToSearch(file, size, maxFileBytes))
    const files = filesOf(store, query, { ...task, signal: combined }, leftOut)
    const open = (file: Entry): Promise<LineSource> => openFile(store, file, matcher, { ...task, onUnreadable })
    for await (const { path: found, lines } of concurrency.mapInOrder(files, store.concurrency, open)) {
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

interface FileTask extends Task {
  readonly onUnreadable: AdapterOptions.Search['onUnreadable']
}

function lineOptions(path: MountPath, { signal, onUnreadable }: FileTask): LineSearchOptions {
  return { signal, path, onPartial: (error) => onUnreadable?.(path, error) }
}

interface LineSource {
  readonly path: MountPath
  readonly lines: Iterable<LineHit> | AsyncIterable<LineHit>
}

/** The lines of a file; none if it has vanished. */
async function openFile(
  store: Store,
  { path, size = 0 }: Entry,
  matcher: LineMatcher,
  task: FileTask,
): Promise<LineSource> {
  if (size > smallBytes) return { path, lines: streamLines(store, path, matcher, task) }
  try {
    const { bytes } = await read(store, path, {}, { ...task, path })
    return { path, lines: matcher.searchBytes(bytes, lineOptions(path, task)) }
  } catch (error) {
    leaveOut(error, path, task)
    return { path, lines: [] }
  }
}

async function* streamLines(
  store: Store,
  path: MountPath,
  matcher: LineMatcher,
  task: FileTask,
): AsyncGenerator<LineHit> {
  try {
    const { stream } = await readStream(store, path, {}, { ...task, path })
    yield* matcher.searchChunks(stream, lineOptions(path, task))
  } catch (error) {
    leaveOut(error, path, task)
  }
}

/** Skips a vanished file, and reports an unreachable one. @throws any other error */
function leaveOut(error: unknown, path: MountPath, { onUnreadable }: FileTask): void {
  if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'EISDIR')) return
  const failed = translate(error, 'search', path)
  if (!isOutOfReach(error) || !isWorkspaceError(failed)) throw error
  onUnreadable?.(path, failed)
}

async function* filesOf(
  store: Store,
  { in: path, glob, exclude, skips, maxFileBytes }: DriverOptions.Query,
  { signal }: Task,
  leftOut: (file: MountPath, size: number) => void,
): AsyncGenerator<Entry, undefined> {
  const filter = createGlobFilter(glob)
  const skipped = path === '/' ? 1 : path.length + 1
  const isWanted = ({ path: found, type, size = 0, unreachable }: Entry): boolean =>
    type === 'file' &&
    unreachable !== true &&
    filter.matches(found.slice(skipped)) &&
    !exclude.some((root) => paths.isWithin(found, root)) &&
    skips?.(found, false) !== true &&
    isSearched(found, size)
  const isSearched = (file: MountPath, size: number): boolean => {
    if (size > maxFileBytes) leftOut(file, size)
    return size <= maxFileBytes
  }
  try {
    for await (const entries of entriesOf(store, path, { recursive: true, exclude, signal }, 'search')) {
      for (const entry of entries) if (isWanted(entry)) yield entry
    }
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOTDIR') || exclude.some((root) => paths.isWithin(path, root))) throw error
    // globs do not exclude a file that `in` names
    const { stat } = await statFile(store, path, signal)
    if (isSearched(path, stat.size)) yield { path, name: '', type: 'file', size: stat.size }
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
