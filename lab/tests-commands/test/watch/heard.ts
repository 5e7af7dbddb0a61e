import type { WatchEvent } from '@ws/core'
import { setImmediate as turn } from 'node:timers/promises'

/** Reads a watch, and gives the events that have come since the last call, as `created /a.txt`. */
export function hear(watch: AsyncIterable<WatchEvent>) {
  const come: WatchEvent[] = []
  const end = (async () => {
    for await (const event of watch) come.push(event)
  })()
  end.catch(() => undefined)
  return {
    /** Resolves when the watch has ended. */
    end,
    async events(): Promise<WatchEvent[]> {
      await turn()
      return come.splice(0)
    },
    async heard(): Promise<string[]> {
      await turn()
      return come.splice(0).map(({ kind, path }) => `${kind} ${path}`)
    },
  }
}
