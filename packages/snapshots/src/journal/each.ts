/** Requests that ask a store at once. */
const atOnce = 16

/** Acts on a number of items at the same time. */
export async function each<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  act: (item: Item) => Promise<unknown>,
): Promise<void> {
  let running: Promise<unknown>[] = []
  try {
    for await (const item of items) {
      running.push(act(item))
      if (running.length < atOnce) continue
      await Promise.all(running)
      running = []
    }
    await Promise.all(running)
  } catch (error) {
    // nothing goes on behind the caller's back; the first failure is the one to tell
    await Promise.allSettled(running)
    throw error
  }
}
