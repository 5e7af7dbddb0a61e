type Kind = 'shared' | 'exclusive'

interface Entry {
  /** Those inside; -1: one who is there alone. */
  inside: number
  readonly waiting: { readonly kind: Kind; readonly enter: () => void }[]
}

/**
 * Keeps readers of a path and who replaces it apart, in the order in which they come: while rclone replaces a file it is
 * missing, empty or cut for a moment. For this adapter's own callers; commands come and go as they like.
 */
export class PathLocks {
  readonly #entries = new Map<string, Entry>()

  async shared<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
    const leave = await this.enter(path, 'shared')
    try {
      return await work()
    } finally {
      leave()
    }
  }

  async exclusive<Result>(paths: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const leaves: (() => void)[] = []
    try {
      // always in one order: two who want the same two must not wait for each other
      for (const path of [...new Set(paths)].sort()) leaves.push(await this.enter(path, 'exclusive'))
      return await work()
    } finally {
      for (const leave of leaves) leave()
    }
  }

  /** Gives the function that leaves; calling it twice is fine. */
  async enter(path: string, kind: Kind): Promise<() => void> {
    const entry = this.#entries.get(path) ?? { inside: 0, waiting: [] }
    this.#entries.set(path, entry)
    if (entry.waiting.length > 0 || !mayEnter(entry, kind)) {
      await new Promise<void>((enter) => entry.waiting.push({ kind, enter }))
    } else admit(entry, kind)
    let inside = true
    return () => {
      if (!inside) return
      inside = false
      entry.inside = kind === 'exclusive' ? 0 : entry.inside - 1
      this.#next(path, entry)
    }
  }

  #next(path: string, entry: Entry): void {
    for (let [first] = entry.waiting; first !== undefined && mayEnter(entry, first.kind); [first] = entry.waiting) {
      entry.waiting.shift()
      admit(entry, first.kind)
      first.enter()
    }
    if (entry.inside === 0 && entry.waiting.length === 0) this.#entries.delete(path)
  }
}

function mayEnter({ inside }: Entry, kind: Kind): boolean {
  return kind === 'exclusive' ? inside === 0 : inside >= 0
}

function admit(entry: Entry, kind: Kind): void {
  entry.inside = kind === 'exclusive' ? -1 : entry.inside + 1
}
