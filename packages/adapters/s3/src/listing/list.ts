import { concurrency, type Entry, type MountPath } from '@ws/core/adapter'
import type { EntryIterator, InnerListOptions } from '@ws/core/inner'
import { translate } from '../client/failures.ts'
import { isOutOfReach } from '../client/native.ts'
import { failure } from '../errors.ts'
import { assertNoLink } from '../links/find.ts'
import { headObject } from '../objects/lookup-real.ts'
import { linkStat } from '../headers/stat.ts'
import type { Store } from '../store/store.ts'
import { pagesOf } from './pages.ts'
import { TreeBuilder } from './tree.ts'

export async function* entriesOf(
  store: Store,
  path: MountPath,
  options: InnerListOptions,
  operation = 'list',
): AsyncGenerator<Entry[], undefined> {
  const { recursive = false, exclude = [], details = false, written, signal } = options
  const task = { operation, path, signal }
  const tree = new TreeBuilder(store, { path, exclude, written })
  const prefix = store.keys.directoryKey(path)
  let empty = path !== '/'
  for await (const keys of pagesOf(store, { prefix, flat: !recursive, skip: (last) => tree.skip(last) }, task)) {
    if (empty && keys.length === 0) await explainEmpty(store, path, task)
    empty = false
    yield details ? await withDetails(store, tree.add(keys), task) : tree.add(keys)
  }
  yield details ? await withDetails(store, tree.finish(), task) : tree.finish()
  store.hints.add(path)
  return undefined
}

/** The error for an empty listing: the path is a file, a link, or missing. */
async function explainEmpty(
  store: Store,
  path: MountPath,
  task: { operation: string; path: string; signal: AbortSignal | undefined },
): Promise<void> {
  store.hints.remove(path)
  if ((await headObject(store, store.keys.key(path), task)) !== undefined) {
    throw failure('ENOTDIR', task.operation, path)
  }
  await assertNoLink(store, path, task, { follow: true })
  throw failure('ENOENT', task.operation, path)
}

/** Adds time and mode with a HEAD for each file. Vanished files are left out; a denied file gets neither. */
async function withDetails(
  store: Store,
  entries: readonly Entry[],
  task: { operation: string; path: string; signal: AbortSignal | undefined },
): Promise<Entry[]> {
  const detailed: Entry[] = []
  const ask = async (entry: Entry): Promise<Entry | undefined> => {
    if (entry.type === 'directory' || entry.unreachable === true) return entry
    const key = entry.type === 'symlink' ? store.keys.linkKey(entry.path) : store.keys.key(entry.path)
    const state = await headObject(store, key, task).catch((error: unknown) => {
      if (!isOutOfReach(error)) throw error
      return 'denied' as const
    })
    if (state === 'denied') return entry
    if (state === undefined) return undefined
    return { ...entry, ...(entry.type === 'symlink' ? linkStat(state) : state.stat) }
  }
  for await (const entry of concurrency.mapInOrder(entries, store.concurrency, ask))
    if (entry !== undefined) detailed.push(entry)
  return detailed
}

/** A listing with the next page of entries in memory: a generator's promise for each entry would cost more than the entry. */
export class S3Listing implements EntryIterator {
  readonly #path: MountPath
  readonly #signal: AbortSignal | undefined
  readonly #pages: AsyncGenerator<Entry[], undefined>
  #entries: readonly Entry[] = []
  #index = 0

  constructor(path: MountPath, signal: AbortSignal | undefined, pages: AsyncGenerator<Entry[], undefined>) {
    this.#path = path
    this.#signal = signal
    this.#pages = pages
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  nextNow(): Entry | undefined {
    const entry = this.#entries[this.#index]
    if (entry !== undefined) this.#index += 1
    return entry
  }

  async next(): Promise<IteratorResult<Entry, undefined>> {
    try {
      for (;;) {
        const value = this.nextNow()
        if (value !== undefined) return { done: false, value }
        const page = await this.#pages.next()
        if (page.done === true) return page
        this.#entries = page.value
        this.#index = 0
      }
    } catch (error) {
      throw translate(error, 'list', this.#path, this.#signal)
    }
  }

  async return(): Promise<IteratorResult<Entry, undefined>> {
    this.#entries = []
    // not awaited: no reader needs a page in transfer any more
    this.#pages.return(undefined).catch(() => undefined)
    return { done: true, value: undefined }
  }
}
