import { Audit } from '../calls/audit.ts'
import type { Context, OpenWatch } from '../calls/context.ts'
import type { ChangeHints, WatchEvent } from '../contract/watching.ts'
import { isWorkspaceError } from '../errors.ts'
import { translateError } from '../mount/errors.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { isWithin, joinPath, relativeTo } from '../path/virtual-path.ts'
import type { UnresolvedPath, VirtualPath } from '../path/virtual-path.ts'
import { WatchedPath } from './watched-path.ts'

/** The part of a watched path in one mount. */
interface Source {
  readonly watched: WatchedPath
  readonly start: VirtualPath
  readonly mount: WorkspaceMount
  hints: ChangeHints | undefined
}

interface LooksOptions {
  readonly context: Context
  readonly recursive: boolean
  readonly tell: (watched: VirtualPath, event: WatchEvent) => void
  readonly onEnd: (failure?: { readonly reason: unknown }) => void
}

/** The looks of a watch, one after the other. Calls and hints only say when and where to look. */
export class Looks implements OpenWatch {
  readonly #context: Context
  readonly #options: LooksOptions
  readonly #tally = { size: 0 }
  readonly #paths: WatchedPath[] = []
  readonly #sources: Source[] = []
  /** The reasons for the next look: changed paths, and sources to ask for hints. A source without hints is listed. */
  #suspects = new Set<VirtualPath>()
  #asked = new Set<Source>()
  /** Paths whose latest look has failed. */
  readonly #owed = new Set<WatchedPath>()
  #next: Promise<void> | undefined
  #current: Promise<void> | undefined
  /** True during a look that lists a whole part of a store. Calls do not wait for it. */
  #isWide = false
  #hasBegun = false
  #isEnded = false

  constructor(options: LooksOptions) {
    this.#options = options
    // a look is not a call of the user
    this.#context = { ...options.context, audit: new Audit({ labels: {} }) }
  }

  get size(): number {
    return this.#tally.size
  }

  get hasHints(): boolean {
    return this.#sources.every(({ hints }) => hints !== undefined)
  }

  /** Adds a watched path, and notes the states there. */
  async add(path: VirtualPath | UnresolvedPath): Promise<void> {
    const given = await this.#context.walker.settle('stat', path, { links: 0 })
    if (this.#paths.some((known) => known.given === given)) return
    const { recursive, tell } = this.#options
    const parts = { context: this.#context, given, recursive, tally: this.#tally }
    const watched = new WatchedPath({ ...parts, tell: (event) => tell(given, event) })
    await this.#open(watched)
    this.#paths.push(watched)
    await watched.look(new Set(), true)
    watched.isTold = true
  }

  begin(): void {
    this.#hasBegun = true
    if (this.#suspects.size + this.#asked.size > 0) void this.#run()
  }

  async look(at?: readonly VirtualPath[]): Promise<void> {
    if (at === undefined) this.#asked = new Set(this.#sources)
    const concerned = (at ?? []).filter((path) => this.#paths.some((watched) => watched.mayConcern(path)))
    for (const path of concerned) this.#suspects.add(path)
    if (!this.#hasBegun || (at !== undefined && concerned.length === 0)) return
    const run = this.#run()
    if (at === undefined || !this.#isWide) await run
  }

  end(): void {
    this.#options.onEnd()
  }

  close(): void {
    this.#isEnded = true
    for (const { hints } of this.#sources) hints?.close()
  }

  async #open(watched: WatchedPath): Promise<void> {
    const { given } = watched
    const { recursive } = this.#options
    const own = this.#context.gate.namespace.find(given).mount
    for (const mount of this.#context.mounts) {
      if (mount !== own && (!recursive || mount.scratch || !isWithin(mount.at, given))) continue
      const start = mount === own ? given : mount.at
      const source: Source = { watched, start, mount, hints: undefined }
      const onHint = (): void => {
        this.#asked.add(source)
        if (this.#hasBegun && !this.#isEnded) void this.#run()
      }
      const adapter = await this.#context.open(mount)
      try {
        source.hints = await adapter.watch?.(relativeTo(start, mount.at), { recursive, onHint })
      } catch (error) {
        throw translateError(error, { operation: 'watch', at: mount.at, path: start })
      }
      watched.details &&= source.hints !== undefined
      this.#sources.push(source)
      if (this.#isEnded) source.hints?.close()
    }
  }

  /** Resolves after a look that begins after this call. Never rejects. */
  #run(): Promise<void> {
    const start = async (): Promise<void> => {
      await this.#current
      this.#next = undefined
      this.#current = this.#work()
      await this.#current
    }
    return (this.#next ??= start())
  }

  async #work(): Promise<void> {
    const [suspects, asked] = [this.#suspects, this.#asked]
    this.#suspects = new Set()
    this.#asked = new Set()
    const turned = new Set<WatchedPath>()
    for (const { watched, start, mount, hints } of asked) {
      const taken = await hints?.take().catch(() => undefined) // then anything may have changed
      // without hints, also after lost ones, a listing shows the changes
      if (taken === undefined) {
        suspects.add(start) // @defence events of a watch: loses its hints
      }
      for (const path of taken ?? []) suspects.add(joinPath(mount.at, path))
      for (const path of watched.linked()) suspects.add(path)
      // hints are about the given path, and not about the target of its links
      if (!watched.isPlain) turned.add(watched)
      this.#isWide ||= taken === undefined
    }
    for (const watched of this.#paths) {
      if (this.#isEnded) return
      await this.#lookAt(watched, suspects, turned.has(watched))
    }
    this.#isWide = false
  }

  async #lookAt(watched: WatchedPath, suspects: ReadonlySet<VirtualPath>, isWhole: boolean): Promise<void> {
    const isOwed = this.#owed.has(watched)
    this.#owed.add(watched)
    try {
      await watched.look(suspects, isWhole || isOwed)
      this.#owed.delete(watched)
    } catch (error) {
      const { given } = watched
      const isFinal = isWorkspaceError(error, 'EFBIG') || isWorkspaceError(error, 'ECLOSED')
      if (isFinal) this.#options.onEnd({ reason: error })
      else if (!isOwed) this.#options.tell(given, { kind: 'overflow', path: given }) // @defence events of a watch: fails to be listed
    }
  }
}
