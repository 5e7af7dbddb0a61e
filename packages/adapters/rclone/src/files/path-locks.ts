type Kind = 'shared' | 'exclusive'

interface Entry {
  /** Number of holders, or -1 for an exclusive holder. */
  inside: number
  readonly waiting: { readonly kind: Kind; readonly enter: () => void }[]
}

/**
 * Separates readers of a path from writers that replace its file, in order of arrival. While rclone replaces a file, the file is missing,
 * empty or truncated for a moment. Only for callers of this adapter, not for commands.
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
      // always in one order: two callers that want the same two paths must not wait for each other
      for (const path of [...new Set(paths)].sort()) leaves.push(await this.enter(path, 'exclusive'))
      return await work()
    } finally {
      for (const leave of leaves) leave()
    }
  }

  /** Returns the function that releases the lock; a second call does nothing. */
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
