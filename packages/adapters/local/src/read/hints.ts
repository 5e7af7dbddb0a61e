import { paths } from '@ws/core'
import { concurrency, type AdapterOptions, type MountPath } from '@ws/core/adapter'
import { watchTree } from '@ws/sandbox'

export interface TreeHintsOptions {
  /** The host path of the tree, through an open descriptor. `undefined`: nothing reports changes here. */
  readonly base: string | undefined
  /** Lists the directories in a directory. A directory that cannot be listed has none. */
  readonly directoriesIn: (directory: MountPath) => Promise<readonly MountPath[]>
}

/** The hints of all watches of a tree. They share one watch by inotify, which begins with the first and ends with the last. */
export class TreeHints {
  readonly #options: TreeHintsOptions
  /** One walk at a time: the watch takes no directories while it adds others. */
  readonly #turns = new concurrency.Semaphore(1)
  #watch: ReturnType<typeof watchTree> | undefined
  #users = 0

  constructor(options: TreeHintsOptions) {
    this.#options = options
  }

  async watch(path: MountPath, { recursive = true }: AdapterOptions.Watch): Promise<AdapterOptions.Hints> {
    const { base } = this.#options
    if (base === undefined) return { take: async () => undefined, close: () => undefined }
    const watch = (this.#watch ??= watchTree(base, 'entries'))
    this.#users += 1
    const begin = async (): Promise<number | undefined> => {
      await this.#inTurn(() => this.#cover(watch, path, recursive))
      return (await watch.since(undefined))?.position
    }
    let position = await begin()
    let isClosed = false
    return {
      take: async () => {
        const news = position === undefined ? undefined : await watch.since(position)
        if (news === undefined) {
          position = await begin()
          return undefined
        }
        position = news.position
        const near = [...news.changed, ...news.replaced].filter((one) => isNear(one, path))
        // a new directory is watched before the caller reads it
        await this.#inTurn(async () => {
          for (const one of news.replaced) {
            if (paths.isWithin(path, one)) await this.#cover(watch, path, recursive)
            else if (recursive && paths.isWithin(one, path)) await this.#addBelow(watch, one)
          }
        })
        return new Set(near)
      },
      close: () => {
        if (isClosed) return
        isClosed = true
        this.#users -= 1
        if (this.#users === 0) this.end()
      },
    }
  }

  end(): void {
    this.#watch?.end()
    this.#watch = undefined
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    await this.#turns.acquire()
    try {
      await work()
    } finally {
      this.#turns.release()
    }
  }

  /** Watches a path, the directories above, and with `recursive` all directories below. */
  async #cover(watch: Watch, path: MountPath, recursive: boolean): Promise<void> {
    const names = paths.segmentsOf(path)
    for (let depth = 0; depth <= names.length; depth++) {
      const above = `/${names.slice(0, depth).join('/')}` as MountPath
      await watch.add([above])
      if (!watch.has(above)) return // it is missing, or a file
    }
    if (recursive) await this.#addBelow(watch, path)
  }

  /** Watches a directory and all below. Each is watched before it is listed, so that no new directory is missed. */
  async #addBelow(watch: Watch, path: MountPath): Promise<void> {
    let level: readonly MountPath[] = [path]
    while (level.length > 0) {
      await watch.add(level)
      const below: MountPath[] = []
      for (const directory of level)
        if (watch.has(directory)) for (const one of await this.#options.directoriesIn(directory)) below.push(one)
      level = below
    }
  }
}

type Watch = ReturnType<typeof watchTree>

function isNear(changed: MountPath, path: MountPath): boolean {
  return paths.isWithin(changed, path) || paths.isWithin(path, changed)
}
