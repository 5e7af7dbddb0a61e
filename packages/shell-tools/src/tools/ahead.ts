const mostAtOnce = 32
/** Bytes that are read ahead: a whole file is held at a time. */
const mostBytesAtOnce = 32 * 1024 * 1024
/** Bytes that are assumed for a file whose size the listing does not report. */
const assumedBytes = 4 * 1024 * 1024

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
