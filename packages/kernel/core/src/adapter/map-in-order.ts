/** Applies `map` to up to `limit` items at a time. Results come in order. If the consumer stops early, running work is awaited. */
export async function* mapInOrder<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, undefined> {
  const running: Promise<Result>[] = []
  try {
    for await (const item of items) {
      const result = map(item)
      result.catch(() => undefined) // the failure is thrown when this result is yielded
      running.push(result)
      const first = running.length >= limit ? running.shift() : undefined
      if (first !== undefined) yield await first
    }
    for (let first = running.shift(); first !== undefined; first = running.shift()) yield await first
    return undefined
  } finally {
    await Promise.allSettled(running)
  }
}

/** Runs `work` on up to `limit` items at a time. Throws the first failure when all running work has ended. */
export async function forEachOf<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  let failed: { readonly error: unknown } | undefined
  try {
    for await (const item of items) {
      if (failed !== undefined) break
      const task: Promise<void> = work(item)
        .catch((error: unknown) => {
          failed ??= { error }
        })
        .finally(() => running.delete(task))
      running.add(task)
      if (running.size >= limit) await Promise.race(running)
    }
  } finally {
    // awaits running work also if `items` itself fails
    await Promise.all(running)
  }
  if (failed !== undefined) throw failed.error
}
