/** Limit of renames that are remembered. */
const most = 1_000

interface Rename {
  readonly from: string
  readonly to: string
  /** When rclone has finished the rename, in milliseconds since the epoch. */
  over: number
}

/** Directories that got other paths. All paths of directories end with a slash. */
export class Renames {
  /** All renames, in order. */
  readonly #all: Rename[] = []

  get #now(): readonly Rename[] {
    return this.#all.filter(({ over }) => Date.now() < over)
  }

  add(from: string, to: string): void {
    if (this.#all.push({ from, to, over: Number.POSITIVE_INFINITY }) > most) this.#all.shift()
  }

  /** Earlier paths of directories, without the slash. */
  earlierDirectories(): readonly string[] {
    return this.#now.map(({ from }) => from.slice(0, -1))
  }

  /** Ends renames whose directories rclone has listed again; `isKept` names the others. Programs may keep files open until `over`. */
  end(isKept: (to: string) => boolean, over: number): void {
    for (const rename of this.#all) if (!isKept(rename.to)) rename.over = Math.min(rename.over, over)
  }

  /** The names that a file may have received by later renames, the latest last. */
  later(name: string): readonly string[] {
    const names = new Set([name])
    for (const { from, to } of this.#now)
      for (const one of [...names]) if (one.startsWith(from)) names.add(to + one.slice(from.length))
    names.delete(name)
    return [...names]
  }

  /**
   * The present name of a file or directory with an earlier path. `isThere`: whether programs see a name, which is then its present name.
   * After one rename applied to a name, later renames apply too: another entry that has the name in between is unrelated.
   */
  now(name: string, isThere: (name: string) => boolean): string {
    let now = name
    for (const { from, to } of this.#now) {
      const isMoved = now !== name || (!isThere(now) && !isThere(from.slice(0, -1)))
      if (isMoved && now.startsWith(from)) now = to + now.slice(from.length)
    }
    return now
  }
}
