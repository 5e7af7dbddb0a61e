import { paths, type WorkspaceError } from '@ws/core'
import type { MountPath, SignalOption } from '@ws/core/adapter'

import type { ReplicaConflict } from '../contract.ts'
import { failure } from '../errors.ts'
import { listSite } from './alone.ts'
import { bring } from './bring.ts'
import type { FirstCopy } from './first-copy.ts'
import { bringBack } from './foreign.ts'
import type { Remote } from './remote.ts'
import { unitOf } from './paths.ts'
import { send } from './send.ts'
import { rescan, type Held, type Site } from './site.ts'
import { Steps } from './steps.ts'
import { hold, lookAtAll, youngIn } from './young.ts'

/** Number of new entries from which the store is listed first. A listing takes fewer requests than a check of each path. */
const listedFrom = 3
const listedShare = 1 / 300
/** Limit of rounds in which both sides are compared again because they changed. */
const mostRounds = 8

export interface PassRequest extends SignalOption {
  /** Scans the disk first: these paths, or everything. */
  readonly look: 'all' | readonly string[] | undefined
  /** Lists the store first, and brings its changes to the disk. Without a pull, conditional writes detect the store's changes. */
  readonly pull: boolean
  readonly push: boolean
  /** Files that are new to this machine are copied in the background. Default false: the pass waits for these files. */
  readonly later?: boolean | undefined
}

export interface PassResult {
  readonly pushed: number
  readonly changedMeanwhile: readonly MountPath[]
  readonly conflicts: readonly ReplicaConflict[]
  readonly failures: ReadonlyMap<MountPath, WorkspaceError>
}

/** Synchronizes both sides. Repeats the work if a side changed meanwhile. */
export function pass(site: Site, copy: FirstCopy, request: PassRequest): Promise<PassResult> {
  return new Pass(site, copy, request).run()
}

class Pass {
  readonly #site: Site
  readonly #copy: FirstCopy
  readonly #request: PassRequest
  readonly #steps: Steps
  readonly #meanwhile = new Set<MountPath>()
  #held: ReadonlyMap<MountPath, Held> = new Map()
  #listed: ReadonlyMap<string, Remote> | undefined
  #pushed = 0

  constructor(site: Site, copy: FirstCopy, request: PassRequest) {
    this.#site = site
    this.#copy = copy
    this.#request = request
    this.#steps = new Steps(request.signal)
  }

  async run(): Promise<PassResult> {
    const { tree } = this.#site
    const { pull, push, signal, later = false } = this.#request
    const steps = this.#steps
    const before = new Set(tree.conflicts.keys())
    if (this.#request.look === 'all') await lookAtAll(this.#site)
    else if (this.#request.look !== undefined) await rescan(this.#site, this.#request.look)
    const asked = new Set(this.#request.look === 'all' ? (tree.dirty as Set<MountPath>) : [])
    let listing = pull
    for (let round = 1; ; round += 1) {
      signal?.throwIfAborted()
      steps.begin()
      const list = (): Promise<ReadonlyMap<string, Remote>> => listSite(this.#site, signal)
      this.#listed = listing ? await bring(this.#site, steps, this.#copy, { signal, later, list }) : undefined
      if (push && !steps.differs) await this.#push(asked, round > 1)
      if (steps.away !== undefined) {
        for (const path of tree.dirty as Set<MountPath>)
          if (!steps.failures.has(path)) steps.failures.set(path, steps.away)
        break
      }
      if (steps.changed.size === 0 && !steps.differs) break
      if (round === mostRounds) {
        this.#giveUp()
        break
      }
      listing = steps.differs
      for (const path of steps.changed) this.#meanwhile.add(path)
      if (steps.changed.size === 0) continue
      this.#held = await hold(this.#site, youngIn(tree))
      // a missing entry may have moved anywhere, alone or with its directory
      await lookAtAll(this.#site)
    }
    if (push && steps.away === undefined) await this.#site.packs.keep(this.#site, signal)
    return {
      pushed: this.#pushed,
      changedMeanwhile: [...this.#meanwhile].sort(),
      conflicts: [...tree.conflicts.values()].filter(({ kept }) => !before.has(kept)),
      failures: steps.failures,
    }
  }

  /**
   * @param asked the paths that were dirty when the pass began. Later changes may wait for the next pass
   * @param again do not delay an entry a second time if no other entry depends on it
   */
  async #push(asked: ReadonlySet<MountPath>, again: boolean): Promise<void> {
    const { dirty, seen, base } = this.#site.tree
    const { signal } = this.#request
    const isNew = (path: string): boolean => seen.has(path) && !base.has(path)
    const count = dirty.size < listedFrom ? 0 : [...dirty].filter(isNew).length
    const list = async () => (this.#listed ??= await listSite(this.#site, signal))
    const isKnown = this.#site.store.isSole === true && this.#copy.progress === undefined
    if (!isKnown && count >= Math.max(listedFrom, base.size * listedShare)) await list()
    await bringBack(this.#site, list, { signal })
    const isYoung = new Set(youngIn(this.#site.tree))
    const held = new Map([...this.#held].filter(([path]) => isYoung.has(path)))
    const isFree = (path: MountPath): boolean =>
      again && !held.has(path) && unitOf(path) === path && !seen.has(`${path}-wal`)
    const young = new Set([...isYoung].filter((path) => !isFree(path)))
    const onPushed = (): void => void (this.#pushed += 1)
    const listed = this.#listed ?? (isKnown ? base : undefined)
    await send(this.#site, this.#steps, { signal, listed, held, young, onPushed })
    for (const path of young) if (asked.has(path) && !held.has(path)) this.#steps.changed.add(path)
  }

  #giveUp(): void {
    const { push } = this.#request
    if (this.#steps.differs) {
      const error = failure('EBUSY', {
        operation: push ? 'flush' : 'refresh',
        path: paths.mountRoot,
        reason: `was listed by the store in another way than it was read, ${mostRounds} times in a row`,
        remedy: 'let the programs that write there end, then call again',
      })
      this.#steps.failures.set(paths.mountRoot, error)
    }
    const dirty =
      this.#steps.changed.size > 0 || !push ? [...this.#steps.changed] : ([...this.#site.tree.dirty] as MountPath[])
    for (const path of dirty) {
      const error = failure('EBUSY', {
        operation: 'flush',
        path,
        reason: 'kept changing while it was brought over',
        remedy: 'let the program that writes it end, then flush again',
      })
      this.#steps.failures.set(path, error)
    }
  }
}
