import { existsSync, fstatSync, type Stats } from 'node:fs'

import { isSettled } from '@ws/core/inner'
import { type Database, failed, isSameTime } from '@ws/tree/disk'

import { compareFork, merge } from '../disk/merge.ts'
import type { Conflict } from '../disk/restore/restore.ts'
import type { Tree } from '../disk/tree.ts'
import { placeOf } from '../store/contents.ts'
import { turnOf } from '../store/list.ts'
import type { Methods, ScanRequest } from './protocol.ts'

interface ForkRow {
  readonly tree: number
  readonly since: string
  readonly origin: number
  readonly root: string
}

export interface ForksOptions {
  readonly database: Database
  readonly tree: (id: number) => Tree
  readonly scan: (request: ScanRequest & { readonly trees: readonly number[] }) => void
}

/** The trees that are copies of others. A fork and its origin have a checkpoint with the same id. */
export class Forks {
  readonly #database: Database
  readonly #tree: ForksOptions['tree']
  readonly #scan: ForksOptions['scan']

  constructor({ database, tree, scan }: ForksOptions) {
    this.#database = database
    this.#tree = tree
    this.#scan = scan
  }

  /** Records open trees as forks. Their first scan reads only files that may differ from the origins. @param used trees that are open */
  begin({ trees, origins, since, reserved }: Parameters<Methods['beginForks']>[0], used: readonly number[]): void {
    this.#sweep(used)
    this.#scan({ trees: origins, reserved })
    const sql = 'SELECT created FROM checkpoints WHERE id = ?'
    const { created = 0 } = this.#database.get<{ created: number }>(sql, since) ?? {}
    for (const [index, id] of trees.entries()) {
      const [tree, origin] = [this.#tree(id), this.#tree(origins[index] ?? -1)]
      tree.contentOfCopy = (path, status) => this.#contentOf(origin, path, status, created)
      this.#database.run('INSERT OR REPLACE INTO forks VALUES (?,?,?,?)', id, since, origin.id, identityOf(tree))
    }
  }

  /** The content of a copied file, if its origin has not changed since the checkpoint before the copy. Programs cannot set a ctime. */
  #contentOf(origin: Tree, path: string, { size, mtimeMs }: Stats, created: number): string | undefined {
    const known = origin.live.get(path)
    if (known?.content === undefined || !isSettled(known.ctime, created)) return undefined // @defence `|| !isSettled…created)` a fork of files that change meanwhile
    if (known.size !== size || !isSameTime(known.mtime, mtimeMs)) return undefined
    return placeOf(this.#database, known.content) && known.content
  }

  /** The checkpoint that open trees share with their origins. `undefined`: another tree, or another directory at a fork's path. */
  sharedBy(trees: readonly number[]): string | undefined {
    const rows = trees.map((tree) => this.#row(tree))
    const [first] = rows
    const isCopy = (row: ForkRow | undefined): boolean =>
      row !== undefined && row.since === first?.since && row.root === identityOf(this.#tree(row.tree))
    return rows.every(isCopy) ? first?.since : undefined
  }

  forget(trees: readonly number[]): void {
    this.#database.transaction(() => {
      for (const tree of trees) {
        for (const table of ['entries', 'unknown', 'attributes', 'checkpoints', 'loosened', 'holds', 'forks'])
          this.#database.run(`DELETE FROM ${table} WHERE tree = ?`, tree)
        // a later tree can get the same number
        this.#database.run('DELETE FROM forks WHERE origin = ?', tree)
        this.#database.run('DELETE FROM trees WHERE id = ?', tree)
      }
    })
  }

  /** Forgets forks whose directory is gone. */
  #sweep(used: readonly number[]): void {
    const all = this.#database.all<{ id: number; key: string }>('SELECT id, key FROM trees JOIN forks ON tree = id')
    const gone = all.filter(({ id, key }) => !used.includes(id) && !existsSync(key))
    if (gone.length > 0) this.forget(gone.map(({ id }) => id))
  }

  compare({
    trees,
    since,
    until,
    reserved,
  }: Parameters<Methods['compareFork']>[0]): ReturnType<Methods['compareFork']> {
    for (const { origin, fork } of trees) {
      const row = this.#row(fork)
      if (row?.origin !== origin || row.since !== since)
        throw failed(
          'EINVAL',
          'the other workspace is not a fork of this one',
          'merge it into the one it was made from',
        )
    }
    const scanned = trees.flatMap(({ origin, fork }) => (until === undefined ? [origin, fork] : [fork]))
    this.#scan({ trees: scanned, reserved })
    return trees.map((pair) => {
      const [origin, fork] = [this.#tree(pair.origin), this.#tree(pair.fork)]
      const turnIn = (tree: Tree, id: string | undefined) =>
        id === undefined ? tree.turn : turnOf(this.#database, tree.id, id)
      const turns = { ofFork: turnIn(fork, since), ofOrigin: turnIn(origin, since), until: turnIn(origin, until) }
      return { ...pair, turn: fork.turn, changes: compareFork(origin, fork, turns) }
    })
  }

  merge({ origin: id, fork: forkId, until, turn, ...work }: Parameters<Methods['merge']>[0]): Conflict[] {
    const [origin, fork] = [this.#tree(id), this.#tree(forkId)]
    if (turnOf(this.#database, id, until) !== origin.turn || fork.turn !== turn)
      throw failed('EBUSY', 'the files were looked at again meanwhile', 'merge again')
    return merge(origin, fork, this.#database, work)
  }

  #row(tree: number): ForkRow | undefined {
    return this.#database.get<ForkRow & object>('SELECT * FROM forks WHERE tree = ?', tree)
  }
}

/** Identifies the directory itself: another one can be made at its path. */
function identityOf({ root }: Tree): string {
  const { ino, birthtimeNs } = fstatSync(root.fd, { bigint: true })
  return `${ino} ${birthtimeNs}`
}
