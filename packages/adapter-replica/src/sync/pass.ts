import type { WorkspaceError } from '@ws/core'
import { mapInOrder, mountRoot, type MountPath, type SignalOption } from '@ws/core/adapter'

import type { ReplicaConflict } from '../contract.ts'
import { failure, typed } from '../errors.ts'
import { awayCodes, listSite } from './alone.ts'
import { heldBack, orderOf } from './order.ts'
import { childrenFirst, parentsFirst } from './paths.ts'
import type { FirstCopy } from './first-copy.ts'
import { pullEntry } from './pull.ts'
import { pushEntry } from './push.ts'
import { differences, type Remote } from './remote.ts'
import { look, type Site, type Step } from './site.ts'

/** Files that are on their way at once. */
const parallel = 32
/** New files for which the store is listed first: a listing takes fewer requests than questions about each place. */
const listedFrom = 3
const listedShare = 1 / 300
/** How often both sides are looked at again, where they change meanwhile. */
const mostRounds = 8

export interface PassRequest extends SignalOption {
  /** Looks at the disk first: at these paths, or at everything. */
  readonly look: 'all' | readonly string[] | undefined
  /** Lists the store first, and brings its changes to the disk. Without it, the conditions of the writes find them. */
  readonly pull: boolean
  readonly push: boolean
  /** Files that are new to this machine come over in the background. Default false: the pass ends when they are there. */
  readonly later?: boolean | undefined
}

export interface PassResult {
  readonly pushed: number
  readonly changedMeanwhile: readonly MountPath[]
  readonly conflicts: readonly ReplicaConflict[]
  readonly failures: ReadonlyMap<MountPath, WorkspaceError>
}

/** Brings both sides together: once, or again where one of them changed meanwhile. */
export function pass(site: Site, copy: FirstCopy, request: PassRequest): Promise<PassResult> {
  return new Pass(site, copy, request).run()
}

class Pass {
  readonly #site: Site
  readonly #copy: FirstCopy
  readonly #request: PassRequest
  readonly #failures = new Map<MountPath, WorkspaceError>()
  readonly #meanwhile = new Set<MountPath>()
  #changed = new Set<MountPath>()
  #listed: ReadonlyMap<string, Remote> | undefined
  #differs = false
  #pushed = 0
  /** The store cannot be reached. */
  #away: WorkspaceError | undefined

  constructor(site: Site, copy: FirstCopy, request: PassRequest) {
    this.#site = site
    this.#copy = copy
    this.#request = request
  }

  async run(): Promise<PassResult> {
    const { tree, limits } = this.#site
    const { pull, push, signal } = this.#request
    const before = new Set(tree.conflicts.keys())
    if (this.#request.look !== undefined)
      await look(this.#site, this.#request.look === 'all' ? undefined : this.#request.look)
    let listing = pull
    for (let round = 1; ; round += 1) {
      signal?.throwIfAborted()
      this.#changed = new Set()
      this.#differs = false
      this.#listed = listing ? await this.#list() : undefined
      if (this.#listed !== undefined) await this.#pull(differences(this.#listed, tree.base, limits))
      if (push && !this.#differs) await this.#push()
      if (this.#away !== undefined) {
        for (const path of tree.dirty as Set<MountPath>)
          if (!this.#failures.has(path)) this.#failures.set(path, this.#away)
        break
      }
      if (this.#changed.size === 0 && !this.#differs) break
      if (round === mostRounds) {
        this.#giveUp()
        break
      }
      listing = this.#differs
      for (const path of this.#changed) this.#meanwhile.add(path)
      if (this.#changed.size === 0) continue
      // an entry that is missing may be anywhere by now, or a whole directory with it
      await look(this.#site)
    }
    return {
      pushed: this.#pushed,
      changedMeanwhile: [...this.#meanwhile].sort(),
      conflicts: [...tree.conflicts.values()].filter(({ kept }) => !before.has(kept)),
      failures: this.#failures,
    }
  }

  async #pull(different: Map<string, Remote | undefined>): Promise<void> {
    const { signal, later = false } = this.#request
    const { tree } = this.#site
    for (const path of different.keys()) if (tree.isUnknown(path) || tree.notHeld.has(path)) different.delete(path)
    for (const path of different.keys() as Iterable<MountPath>) {
      if (!this.#copy.waitsFor(path)) continue
      different.delete(path)
      // a program has made something there meanwhile
      if (this.#site.tree.seen.has(path)) await this.#step(path, () => this.#copied(path))
    }
    if (different.size === 0) return
    const gone = [...different].filter(([, remote]) => remote === undefined).map(([path]) => path)
    for (const path of childrenFirst(gone))
      await this.#step(path, () => pullEntry(this.#site, path, undefined, { signal }))
    const directories = parentsFirst(
      [...different].flatMap(([path, remote]) => (remote?.type === 'directory' ? [path] : [])),
    )
    for (const path of directories)
      await this.#step(path, () => pullEntry(this.#site, path, different.get(path), { signal }))
    const files = parentsFirst(
      [...different].flatMap(([path, remote]) => (remote !== undefined && remote.type !== 'directory' ? [path] : [])),
    )
    const { base, seen } = this.#site.tree
    const waiting = new Map<MountPath, Remote>()
    for (const path of later ? files : []) {
      const remote = different.get(path)
      if (remote !== undefined && !base.has(path) && !seen.has(path)) waiting.set(path, remote)
    }
    await this.#each(
      files.filter((path) => !waiting.has(path)),
      (path) => pullEntry(this.#site, path, different.get(path), { signal }),
    )
    this.#copy.begin(waiting)
    // what could not be brought over is listed again
    if (this.#changed.size > 0) this.#differs = true
  }

  #list(): Promise<ReadonlyMap<string, Remote>> {
    return listSite(this.#site, this.#request.signal)
  }

  async #copied(path: MountPath): Promise<Step> {
    await this.#copy.need(path, 'entry', this.#request.signal)
    return 'done'
  }

  async #push(): Promise<void> {
    const { dirty, seen, base } = this.#site.tree
    const { signal } = this.#request
    const isNew = (path: string): boolean => seen.get(path)?.type === 'file' && !base.has(path)
    const count = dirty.size < listedFrom ? 0 : [...dirty].filter(isNew).length
    if (count >= Math.max(listedFrom, base.size * listedShare)) this.#listed ??= await this.#list()
    const options = { signal, listed: this.#listed, onPushed: () => void (this.#pushed += 1) }
    const run = (path: MountPath): Promise<Step> => pushEntry(this.#site, path, options)
    const { tree } = this.#site
    const { early, inTheWay, late, rest } = orderOf(tree)
    await this.#parentsFirst(early, run)
    const isHeld = heldBack(tree, [...inTheWay, ...late], early)
    for (const path of inTheWay) if (!isHeld(path)) await this.#step(path, () => run(path))
    await this.#parentsFirst(
      late.filter((path) => !isHeld(path)),
      run,
    )
    const isKept = heldBack(tree, rest, [...early, ...late])
    const gone = rest.filter((path) => dirty.has(path) && !isKept(path))
    await this.#each(
      gone.filter((path) => base.get(path)?.type !== 'directory'),
      run,
    )
    for (const path of gone.filter((one) => base.get(one)?.type === 'directory'))
      await this.#step(path, () => run(path))
  }

  async #parentsFirst(paths: readonly MountPath[], run: (path: MountPath) => Promise<Step>): Promise<void> {
    const { seen } = this.#site.tree
    const isDirectory = (path: MountPath): boolean => seen.get(path)?.type === 'directory'
    for (const path of paths.filter(isDirectory)) await this.#step(path, () => run(path))
    await this.#each(
      paths.filter((path) => !isDirectory(path)),
      run,
    )
  }

  async #each(paths: readonly MountPath[], work: (path: MountPath) => Promise<Step>): Promise<void> {
    const steps = mapInOrder(paths, parallel, (path) => this.#step(path, () => work(path)))
    for await (const _ of steps) void _
  }

  async #step(path: MountPath, work: () => Promise<Step>): Promise<void> {
    const { signal } = this.#request
    signal?.throwIfAborted()
    // a store that cannot be reached is not asked thousands of times
    if (this.#away !== undefined) return
    try {
      const step = await work()
      if (step === 'changed') this.#changed.add(path)
      if (step === 'differs') this.#differs = true
      if (step === 'done') this.#failures.delete(path)
    } catch (error) {
      if (signal?.aborted === true && error === signal.reason) throw error
      const known = typed(error, path)
      this.#failures.set(path, known)
      if (awayCodes.has(known.code)) this.#away ??= known
    }
  }

  #giveUp(): void {
    const { push } = this.#request
    if (this.#differs) {
      const error = failure('EBUSY', {
        operation: push ? 'flush' : 'refresh',
        path: mountRoot,
        reason: `was listed by the store in another way than it was read, ${mostRounds} times in a row`,
        remedy: 'let the programs that write there end, then call again',
      })
      this.#failures.set(mountRoot, error)
    }
    const paths = this.#changed.size > 0 || !push ? [...this.#changed] : ([...this.#site.tree.dirty] as MountPath[])
    for (const path of paths) {
      const error = failure('EBUSY', {
        operation: 'flush',
        path,
        reason: 'kept changing while it was brought over',
        remedy: 'let the program that writes it end, then flush again',
      })
      this.#failures.set(path, error)
    }
  }
}
