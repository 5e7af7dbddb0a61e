import type { FsStat } from 'just-bash'

import type { Facts, ListedEntry } from '../../files/contract.ts'
import type { Session } from '../session.ts'
import type { Invocation } from './tool.ts'

/** Operations of one command that are under way at once. */
const mostAtOnce = 32
/** Bytes that are read ahead: a whole file is held at a time. */
const mostBytesAtOnce = 32 * 1024 * 1024
/** Bytes that are assumed for a file whose size the listing does not report. */
const assumedBytes = 4 * 1024 * 1024

/** The entries of a directory, by one listing. */
export async function listedIn({ session }: Invocation, path: string, facts: Facts): Promise<ListedEntry[]> {
  return filesOf(session).readdirWithStats(path, { facts })
}

/** The facts that `lstat` reports about a path, or `stat` with `follow`, without the identity. */
export async function look({ session }: Invocation, path: string, { follow = false } = {}): Promise<FsStat> {
  return filesOf(session).look(path, { follow })
}

function filesOf({ files }: Session): NonNullable<Session['files']> {
  if (files === undefined) throw new Error('the script has no files')
  return files
}

export interface Ahead<Item, Result> {
  readonly item: Item
  readonly result: Promise<Result>
}

/** Work on items in order, begun ahead: on 32 items at most, and on files of 32 MiB together. */
export async function* workAhead<Item extends { readonly size?: number | undefined }, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Ahead<Item, Result>, undefined> {
  const begun: (Ahead<Item, Result> & { readonly bytes: number })[] = []
  let bytes = 0
  for await (const item of items) {
    const size = item.size ?? assumedBytes
    while (begun.length > 0 && (begun.length >= mostAtOnce || bytes + size > mostBytesAtOnce)) {
      const first = begun.shift()
      if (first === undefined) break
      yield first
      bytes -= first.bytes
    }
    const result = work(item)
    // heard where it is waited for; who stops early does not
    result.catch(() => undefined)
    begun.push({ item, result, bytes: size })
    bytes += size
  }
  yield* begun
  return undefined
}
