import type { Checkpoints } from '@ws/core/adapter'
import { type Database, failed, Failure, nameTemporaries, openStateDirectory } from '@ws/tree/disk'

import { type Conflict, restore, tightenAgain } from '../disk/restore/restore.ts'
import { isTimeOfDirectory, Tree } from '../disk/tree.ts'
import { collect, neededBytes } from '../store/collect.ts'
import { heldOf, hold } from '../store/holds.ts'
import { listOf, turnOf } from '../store/list.ts'
import { openIndex } from '../store/open-index.ts'
import { Packs } from '../store/packs.ts'
import { Forks } from './forks.ts'
import { Journals } from './journals.ts'
import type {
  DiffSide,
  KeepRequest,
  KeptRow,
  LeftOutAt,
  Methods,
  PairAt,
  SaveRequest,
  Stored,
  TreeName,
  WorkerData,
} from './protocol.ts'
import { unifiedDiff } from './unified-diff.ts'

export class Service implements Methods {
  readonly #limits: WorkerData['limits']
  readonly #database: Database | undefined
  readonly #packs: Packs | undefined
  readonly #journals: Journals | undefined
  readonly #forks: Forks | undefined
  readonly #trees = new Map<number, { readonly tree: Tree; users: number }>()
  #looked: string | undefined

  constructor({ stateDirectory, limits, tempName }: WorkerData) {
    nameTemporaries(tempName)
    this.#limits = limits
    if (stateDirectory === undefined) return
    const directory = openStateDirectory(stateDirectory)
    const database = openIndex(directory)
    this.#database = database
    const packs = new Packs(directory, (content, { pack, block, length, start, size }) =>
      database.run('INSERT OR REPLACE INTO contents VALUES (?,?,?,?,?,?)', content, pack, block, length, start, size),
    )
    this.#packs = packs
    this.#journals = new Journals(database, packs)
    this.#forks = new Forks({ database, tree: (id) => this.#tree(id), scan: (request) => this.scan(request) })
  }

  close(): void {
    for (const { tree } of this.#trees.values()) tree.close()
    this.#packs?.close()
    this.#database?.close()
  }

  open(names: readonly TreeName[]): number[] {
    const { database, packs } = this.#store()
    return names.map((name) => {
      const tree = new Tree(database, packs, name)
      const known = this.#trees.get(tree.id)
      if (known !== undefined) {
        tree.close()
        known.users += 1
        return tree.id
      }
      tightenAgain(tree, database) // @defence a directory that a killed restore leaves open: UN6
      this.#trees.set(tree.id, { tree, users: 1 })
      return tree.id
    })
  }

  shut(ids: readonly number[]): void {
    for (const id of ids) {
      this.#journals?.shut(id)
      const known = this.#trees.get(id)
      if (known === undefined) continue
      known.users -= 1
      if (known.users > 0) continue
      known.tree.close()
      this.#trees.delete(id)
    }
  }

  scan({ trees, reserved, keep, look, withoutBytes }: Parameters<Methods['scan']>[0]): LeftOutAt[] {
    const leftOut = trees.flatMap((id) => {
      if (this.#isJournal(id)) return []
      const tree = this.#tree(id)
      const options = { ...this.#limits, ...(withoutBytes && { maxFileBytes: -1 }), reserved: reserved[id] ?? [] }
      return this.#withRoom(keep, (room) => tree.scan(options, room)).map((left) => ({ tree: id, ...left }))
    })
    this.#looked = look
    return leftOut
  }

  save({ trees, label, automatic, id, forced, after, ...request }: SaveRequest): ReturnType<Methods['save']> {
    const { database, journals } = this.#store()
    const isLooked = after !== undefined && this.#looked === after
    const leftOut = isLooked ? [] : this.scan({ trees, ...request })
    const createdAt = Date.now()
    if (automatic && !forced && this.#isLatest(trees)) return undefined
    const turns = database.transaction(() =>
      trees.map((tree) => {
        const turn = this.#isJournal(tree) ? journals.next(tree) : this.#tree(tree).turn
        const values = [id, tree, turn, label ?? null, createdAt, automatic ? 1 : 0]
        database.run('INSERT INTO checkpoints VALUES (?,?,?,?,?,?)', ...values)
        return turn
      }),
    )
    for (const [index, tree] of trees.entries()) if (this.#isJournal(tree)) journals.began(tree, turns[index] ?? 0)
    return { checkpoint: { id, label, createdAt, automatic }, leftOut }
  }

  list(trees: readonly number[]): Stored[] {
    return listOf(this.#store().database, trees)
  }

  compare({ trees, since, until, reserved }: Parameters<Methods['compare']>[0]): PairAt[] {
    const turns = trees.map((tree) => this.#turnOf(tree, since))
    if (until === undefined) this.scan({ trees, reserved })
    return trees.flatMap((id, index) => {
      const tree = this.#tree(id)
      const last = until === undefined ? tree.turn : this.#turnOf(id, until)
      return tree.compare(turns[index] ?? 0, last).map((pair) => ({ tree: id, ...pair }))
    })
  }

  hold(trees: readonly number[], held: Checkpoints.Held | undefined): void {
    hold(this.#store().database, trees, held)
  }

  held(trees: readonly number[]): Checkpoints.Held | undefined {
    return heldOf(this.#store().database, trees)
  }

  restore({ tree: id, since, until, paths, discards }: Parameters<Methods['restore']>[0]): Conflict[] {
    const tree = this.#tree(id)
    const { database } = this.#store()
    const wanted = new Set(paths)
    const turn = this.#turnOf(id, since)
    if (this.#turnOf(id, until) !== tree.turn)
      throw failed('EBUSY', 'the files were looked at again meanwhile', 'restore again')
    const pairs = tree.compare(turn, tree.turn).filter(({ path }) => wanted.has(path))
    return restore(tree, database, { since: turn, pairs, discards })
  }

  beginForks(request: Parameters<Methods['beginForks']>[0]): void {
    this.#store().forks.begin(request, this.#used())
  }

  sharedBy(trees: readonly number[]): string | undefined {
    return this.#store().forks.sharedBy(trees)
  }

  forget(trees: readonly number[]): void {
    this.#store().forks.forget(trees)
  }

  compareFork(request: Parameters<Methods['compareFork']>[0]): ReturnType<Methods['compareFork']> {
    return this.#store().forks.compare(request)
  }

  merge(request: Parameters<Methods['merge']>[0]): Conflict[] {
    return this.#store().forks.merge(request)
  }

  openJournal(key: string): ReturnType<Methods['openJournal']> {
    return this.#store().journals.open(key)
  }

  keep(request: KeepRequest): void {
    this.#withRoom(request.keep, (room) => this.#store().journals.keep(request, room))
  }

  note(request: KeepRequest): boolean {
    return this.#withRoom(request.keep, (room) => this.#store().journals.note(request, room))
  }

  kept(tree: number, since: string): KeptRow[] {
    return this.#store().journals.since(tree, this.#turnOf(tree, since))
  }

  bytes(content: string): Uint8Array {
    return this.#store().journals.read(content)
  }

  diff(before: DiffSide, after: DiffSide): string {
    const bytesOf = ({ bytes, content, tree }: DiffSide): Uint8Array | undefined =>
      bytes ?? (content === undefined || tree === undefined ? undefined : this.#tree(tree).read(content))
    return unifiedDiff({ ...before, bytes: bytesOf(before) }, { ...after, bytes: bytesOf(after) })
  }

  collect(): void {
    const { database, packs } = this.#store()
    collect(database, packs, { ...this.#limits, used: this.#used() })
  }

  /** Runs a scan within the limit of bytes. The oldest checkpoints are deleted to make room. */
  #withRoom<Result>(keep: string | undefined, work: (room: number) => Result): Result {
    const { database, packs } = this.#store()
    const { maxBytes, maxAge } = this.#limits
    const used = this.#used()
    if (packs.size > maxBytes * 0.75) collect(database, packs, { maxBytes, maxAge, used, keep })
    try {
      return work(maxBytes - packs.size)
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'EDQUOT') throw error
      // a tree that does not fit must not cost other trees their checkpoints: collect only after the scan succeeds
      const result = work(maxBytes - neededBytes(database))
      collect(database, packs, { maxBytes, maxAge, used, keep })
      return result
    }
  }

  #isLatest(trees: readonly number[]): boolean {
    const latest = this.list(trees).at(-1)
    if (latest === undefined) return false
    return trees.every((id) => {
      if (this.#isJournal(id)) return true
      const tree = this.#tree(id)
      return tree.compare(this.#turnOf(id, latest.id), tree.turn).every(isTimeOfDirectory)
    })
  }

  #isJournal(id: number): boolean {
    return this.#journals?.turnOf(id) !== undefined
  }

  #used(): number[] {
    return [...this.#trees.keys(), ...(this.#journals?.trees ?? [])]
  }

  #tree(id: number): Tree {
    const known = this.#trees.get(id)
    if (known === undefined) throw failed('ECLOSED', 'the workspace is closed', 'make a new one')
    return known.tree
  }

  #turnOf(tree: number, id: string): number {
    return turnOf(this.#store().database, tree, id)
  }

  #store() {
    const [database, packs, journals, forks] = [this.#database, this.#packs, this.#journals, this.#forks]
    if (database === undefined || packs === undefined || journals === undefined || forks === undefined)
      throw failed('EINVAL', 'there is no `stateDirectory`', 'pass one to `createCheckpoints`')
    return { database, packs, journals, forks }
  }
}
