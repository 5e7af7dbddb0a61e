interface Moved {
  readonly from: string
  readonly to: string
  /** The file got the place of a file with a later content. */
  readonly isOlder: boolean
}

/** Files of the cache that got other names. rclone reports the rename of a directory after its files, and renames run side by side. */
export class MovedFiles {
  #all: Moved[] = []

  add(from: string, to: string, isOlder: boolean): void {
    this.#all.push({ from, to, isOlder })
  }

  /** Takes the files that the rename of a directory has moved. Forgets others, except those that `isWaiting` for their upload. */
  take(from: string, to: string, isWaiting: (name: string) => boolean): readonly Moved[] {
    const taken = this.#all.filter((one) => one.to.startsWith(to) && one.from === from + one.to.slice(to.length))
    this.#all = this.#all.filter((one) => !taken.includes(one) && (one.isOlder || isWaiting(one.to)))
    return taken
  }
}
