/** Operations that wait for a path, in order. The map contains each locked path. */
const waiting = new Map<string, (() => void)[]>()

/** Runs `work` while no other operation of this thread changes these paths, as `conditionalWrite: 'process'` promises. */
export async function withLocks<Result>(paths: readonly string[], work: () => Promise<Result>): Promise<Result> {
  const keys = [...new Set(paths)].toSorted() // always in one order: two moves in opposite directions must not wait for each other
  const held: string[] = []
  try {
    for (const key of keys) {
      await acquire(key)
      held.push(key)
    }
    return await work()
  } finally {
    for (const key of held) releaseLock(key)
  }
}

function acquire(key: string): Promise<void> | undefined {
  const line = waiting.get(key)
  if (line !== undefined) return new Promise((resolve) => line.push(resolve))
  waiting.set(key, [])
  return undefined
}

function releaseLock(key: string): void {
  const next = waiting.get(key)?.shift()
  if (next === undefined) waiting.delete(key)
  else next()
}
