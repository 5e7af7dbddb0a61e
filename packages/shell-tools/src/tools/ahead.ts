const mostAtOnce = 32
/** Limit of bytes read ahead: each file is in memory as a whole. */
const mostBytesAtOnce = 32 * 1024 * 1024
/** Bytes assumed for a file of unknown size. */
const assumedBytes = 4 * 1024 * 1024

export interface Ahead<Item, Result> {
  readonly item: Item
  readonly result: Promise<Result>
}

/** Works on items in order, up to 32 items or 32 MiB of files ahead. */
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
    // a failure is thrown when its item is reached; an early stop ignores failures
    result.catch(() => undefined)
    begun.push({ item, result, bytes: size })
    bytes += size
  }
  yield* begun
  return undefined
}
