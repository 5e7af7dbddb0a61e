interface Moved {
  readonly from: string
  readonly to: string
  /** True if the file took the path of a file with a later content. */
  readonly isOlder: boolean
}

/** Files of the cache with new names. rclone reports a directory's rename after the renames of its files, and renames can overlap. */
export class MovedFiles {
  #all: Moved[] = []

  add(from: string, to: string, isOlder: boolean): void {
    this.#all.push({ from, to, isOlder })
  }

  /** Removes and returns the files that a directory rename has moved. Forgets other files, unless `isWaiting` for their upload. */
  take(from: string, to: string, isWaiting: (name: string) => boolean): readonly Moved[] {
    const taken = this.#all.filter((one) => one.to.startsWith(to) && one.from === from + one.to.slice(to.length))
    this.#all = this.#all.filter((one) => !taken.includes(one) && (one.isOlder || isWaiting(one.to)))
    return taken
  }
}
