/** Most renames that are remembered. */
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

  /** Ends renames, except those that `isKept` names: rclone has listed the directories again. Programs may have files open until `over`. */
  end(isKept: (to: string) => boolean, over: number): void {
    for (const rename of this.#all) if (!isKept(rename.to)) rename.over = Math.min(rename.over, over)
  }

  /** The names that a file may have got since, the latest last. */
  later(name: string): readonly string[] {
    const names = new Set([name])
    for (const { from, to } of this.#now)
      for (const one of [...names]) if (one.startsWith(from)) names.add(to + one.slice(from.length))
    names.delete(name)
    return [...names]
  }

  /**
   * The present name of a file or directory with an earlier path. A directory may have such a path again once a rename has ended.
   * `isThere`: whether programs see a name, which then counts.
   */
  now(name: string, isThere: (name: string) => boolean): string {
    let now = name
    for (const { from, to } of this.#all.filter(({ over }) => over === Number.POSITIVE_INFINITY))
      if (now.startsWith(from) && !isThere(now) && !isThere(from.slice(0, -1))) now = to + now.slice(from.length)
    return now
  }
}
