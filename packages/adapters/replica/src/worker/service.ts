import { fstatSync, lstatSync, readlinkSync, renameSync, type Stats } from 'node:fs'

import { isSettled } from '@ws/core/inner'
import {
  Acts,
  Ahead,
  Content,
  contentOf,
  factsOf,
  inodeOf,
  mark,
  nativeCode,
  openStateDirectory,
  pathOf,
  plainError,
  Root,
  scan,
  Unexpected,
} from '@ws/tree/disk'
import type { Facts, Place, PlainError } from '@ws/tree/disk'

import type { ReplicaConflict } from '../contract.ts'
import type { Base, Looked, LookRequest, Methods, Opened, Outcome, Put, Seen, ServiceData } from './protocol.ts'
import { Pieces, type SeenFile } from './pieces.ts'
import { State } from './state.ts'

const gone = 'it is not there any more'

/** Works on directory and state through verified descriptors. Only unchanged entries are replaced or removed. */
export class Service implements Methods {
  readonly #root: Root
  readonly #state: State
  readonly #data: ServiceData
  readonly #seen: Map<string, Facts>
  readonly #skipped: ReadonlySet<string>
  readonly #pieces = new Pieces()
  readonly #ahead = new Ahead()

  constructor(data: ServiceData) {
    this.#data = data
    this.#skipped = new Set(data.rebuild)
    this.#state = new State(data.stateDirectory === undefined ? undefined : openStateDirectory(data.stateDirectory))
    this.#root = new Root(data.files)
    this.#seen = this.#state.seen()
    const status = fstatSync(this.#root.fd)
    const ino = inodeOf(status, () => fstatSync(this.#root.fd, { bigint: true }))
    // the directory was replaced: its missing entries are unknown, and come from the store again
    if ((this.#seen.get('/')?.ino ?? ino) === ino) return
    this.#state.forget()
    this.#seen.clear()
  }

  close(): void {
    this.#pieces.close()
    this.#ahead.close()
    this.#root.close()
    this.#state.close()
  }

  open(): Opened {
    return { ...this.#state.open(), seen: [...this.#seen].map(([path, facts]) => [path, seenOf(facts)]) }
  }

  adopt(store: string | undefined): void {
    this.#state.adopt(store)
  }

  look({ only, reserved, mapped }: LookRequest): Looked {
    const { maxFileBytes } = this.#data
    const result = scan({
      root: this.#root,
      known: this.#seen,
      maxFileBytes,
      only,
      reserved,
      skipped: this.#skipped,
      // the bytes of a moved entry may exist on this machine alone
      keepMoved: true,
      ahead: only === undefined ? this.#ahead : undefined,
      take: (place, seen) => Content.digestContent(place, seen, { maxBytes: maxFileBytes, mapped }),
    })
    this.#note(result.changed, result.gone)
    const changed = new Map([...result.changed].map(([path, facts]) => [path, seenOf(facts)]))
    return { ...result, changed }
  }

  read(path: string, mapped: boolean): Uint8Array | undefined {
    const file = this.#file(path)
    if (file === undefined) return undefined
    const found = Content.readContent(file.at, file.status, { maxBytes: this.#data.maxFileBytes, mapped })
    return found === undefined || found.torn || contentOf(found.bytes) !== file.content ? undefined : found.bytes
  }

  openFile(path: string, mapped: boolean): number | undefined {
    const file = this.#file(path)
    return file && this.#pieces.open(file, mapped)
  }

  nextPiece(file: number): Uint8Array | { readonly isWhole: boolean } {
    return this.#pieces.next(file)
  }

  newFile(kept: boolean): number {
    return this.#pieces.create(kept ? this.#root.fd : undefined)
  }

  addPiece(file: number, bytes: Uint8Array): void {
    this.#pieces.add(file, bytes)
  }

  hashOf(file: number): string {
    return this.#pieces.hashOf(file)
  }

  closeFile(file: number): void {
    this.#pieces.drop(file)
  }

  put(puts: readonly Put[]): readonly (Outcome | { readonly failed: PlainError })[] {
    return puts.map((put) => {
      try {
        return this.#put(put)
      } catch (error) {
        return { failed: plainError(error) }
      }
    })
  }

  #put({ wanted, source, version }: Put): Outcome {
    const { path, type, target } = wanted
    return this.#attempt(() => {
      const place = this.#place(path)
      if (place === undefined) throw new Unexpected('its directory is not there any more')
      const { size, content } =
        typeof source === 'number'
          ? this.#pieces.factsOf(source)
          : { size: source?.length ?? 0, content: source && contentOf(source) }
      const unknown = { size, ctime: 0, ino: '', birth: 0, unsettled: false }
      const facts: Facts = { ...wanted, ...this.#data.owner, ...unknown, content, target }
      const from = typeof source === 'number' ? this.#pieces.finish(source, facts) : source
      this.#make(place, facts, this.#seen.get(path), from)
      if (typeof source === 'number') this.#pieces.arrive(source, place)
      const now = this.#statusOf(place, type, { content, target })
      this.#state.put(path, now, version)
      this.#seen.set(path, now)
      return { facts: seenOf(now) }
    })
  }

  remove(path: string): string | undefined {
    const outcome = this.#attempt(() => {
      const seen = this.#seen.get(path)
      const place = this.#place(path)
      if (place === undefined || seen === undefined) throw new Unexpected(gone)
      if (seen.type === 'directory') Acts.removeDirectory(place, seen)
      else Acts.removeFile(place, seen)
      this.#note([], [path])
      return { facts: seen }
    })
    return 'unexpected' in outcome ? outcome.unexpected : undefined
  }

  setAside(path: string, to: string): boolean {
    const [place, target] = [this.#place(path), this.#place(to)]
    if (place === undefined || target === undefined) return false
    if (lstatSync(pathOf(target), { throwIfNoEntry: false }) !== undefined) return false
    try {
      // Any entry at the path now is this machine's version, so it is not checked.
      renameSync(pathOf(place), pathOf(target))
    } catch (error) {
      if (nativeCode(error) === 'ENOENT') return false
      throw error
    } finally {
      this.#root.forget()
    }
    return true
  }

  agree(base: readonly Base[], without: readonly string[]): void {
    this.#state.agree(base, without)
  }

  conflict(conflict: ReplicaConflict): void {
    this.#state.conflict(conflict)
  }

  settle(kept: readonly string[]): void {
    this.#state.settle(kept)
  }

  hashes(): readonly (readonly [string, string])[] {
    const { maxFileBytes } = this.#data
    const nothing = { known: new Map<string, Facts>(), reserved: [], skipped: this.#skipped }
    const take = (place: string, seen: Stats) => Content.digestContent(place, seen, { maxBytes: maxFileBytes })
    const { changed } = scan({ root: this.#root, maxFileBytes, ...nothing, take })
    return [...changed].flatMap(([path, { content, target }]) => {
      const hash = content ?? target
      return hash === undefined ? [] : [[path, hash] as const]
    })
  }

  #make(place: Place, facts: Facts, seen: Facts | undefined, source: Uint8Array | Place | undefined): void {
    if (facts.type === 'directory') {
      if (seen?.type === 'directory') return mark(place, { ...facts, mtime: seen.mtime }, { ino: seen.ino })
      if (seen !== undefined) Acts.removeFile(place, seen)
      const ino = Acts.makeDirectory(place, facts)
      return mark(place, facts, { ino })
    }
    if (seen?.type === 'directory') Acts.removeDirectory(place, seen)
    if (seen === undefined || seen.type === 'directory') return Acts.create(place, facts, source)
    return Acts.replace(place, facts, seen, source)
  }

  #statusOf(place: Place, type: Facts['type'], known: Pick<Facts, 'content' | 'target'>): Facts {
    const now = Date.now()
    const status = lstatSync(pathOf(place))
    const ino = inodeOf(status, () => lstatSync(pathOf(place), { bigint: true }))
    // once the modification time is old enough, every later change alters this time
    const unsettled = type !== 'directory' && !isSettled(status.mtimeMs, now)
    const facts: Facts = { ...factsOf(status, type, ino), ...known, unsettled }
    if (facts.type === 'symlink' && readlinkSync(pathOf(place)) !== known.target) throw new Unexpected(gone)
    return facts
  }

  #note(changed: Iterable<readonly [string, Facts]>, without: readonly string[]): void {
    const entries = [...changed]
    if (entries.length === 0 && without.length === 0) return
    this.#state.note(entries, without)
    for (const path of without) this.#seen.delete(path)
    for (const [path, facts] of entries) this.#seen.set(path, facts)
  }

  /** The file at a path that was a file in the last scan and still is. */
  #file(path: string): SeenFile | undefined {
    const seen = this.#seen.get(path)
    const place = this.#place(path)
    if (seen?.type !== 'file' || seen.content === undefined || place === undefined) return undefined
    const at = pathOf(place)
    const status = lstatSync(at, { throwIfNoEntry: false })
    return status?.isFile() === true ? { at, status, content: seen.content } : undefined
  }

  #place(path: string): Place | undefined {
    const slash = path.lastIndexOf('/')
    const parent = this.#root.directory(slash <= 0 ? '/' : path.slice(0, slash))
    return parent === undefined ? undefined : { parent, name: path.slice(slash + 1) }
  }

  #attempt(work: () => Outcome): Outcome {
    try {
      return work()
    } catch (error) {
      if (error instanceof Unexpected) return { unexpected: error.reason }
      const code = nativeCode(error)
      // a command has just removed or replaced the entry
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return { unexpected: gone }
      throw error
    }
  }
}

function seenOf({ type, size, mode, mtime, ctime, content, target }: Facts): Seen {
  return { type, size, mode, mtime, ctime, content, target }
}
