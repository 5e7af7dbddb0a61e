import type { Checkpoints } from '@ws/core/adapter'
import { contentOf, type Database, failed } from '@ws/tree/disk'

import { placeOf, readSaved } from '../store/contents.ts'
import { lasting } from '../store/open-index.ts'
import type { Packs } from '../store/packs.ts'
import { tooMuch } from '../too-much.ts'
import type { KeepRequest, KeptRow, Methods } from './protocol.ts'

interface Row {
  readonly path: string
  readonly type: Checkpoints.EntryState['type'] | null
  readonly size: number
  readonly mode: number | null
  readonly mtime: number | null
  readonly version: string
  readonly content: string | null
  readonly target: string | null
}

/** A turn is the number of the latest checkpoint. A checkpoint needs the states of its own turn and of all later ones. */
export class Journals {
  readonly #database: Database
  readonly #packs: Packs
  readonly #turns = new Map<number, number>()

  constructor(database: Database, packs: Packs) {
    this.#database = database
    this.#packs = packs
  }

  get trees(): readonly number[] {
    return [...this.#turns.keys()]
  }

  open(key: string): ReturnType<Methods['openJournal']> {
    this.#database.run('INSERT OR IGNORE INTO trees (key, turn) VALUES (?, 0)', key)
    const sql = 'SELECT id, turn FROM trees WHERE key = ?'
    const { id = 0, turn = 0 } = this.#database.get<{ id: number; turn: number }>(sql, key) ?? {}
    this.#turns.set(id, turn)
    const rows = this.#database.all<Row>('SELECT * FROM kept WHERE tree = ? AND turn = ?', id, turn)
    const isOpen = this.#database.get('SELECT 1 FROM checkpoints WHERE tree = ?', id) !== undefined
    return { tree: id, isOpen, types: rows.map(({ path, type }) => [path, type ?? 'nothing']) }
  }

  shut(tree: number): void {
    this.#turns.delete(tree)
  }

  turnOf(tree: number): number | undefined {
    return this.#turns.get(tree)
  }

  next(tree: number): number {
    const turn = (this.#turns.get(tree) ?? 0) + 1
    this.#database.run('UPDATE trees SET turn = ? WHERE id = ?', turn, tree)
    return turn
  }

  began(tree: number, turn: number): void {
    this.#turns.set(tree, turn)
  }

  keep({ tree, path, state }: KeepRequest, room: number): void {
    this.#change(tree, (turn) => {
      const content = state?.bytes && this.#save(state.bytes, room, withoutRoom)
      this.#put('IGNORE', tree, turn, rowOf(path, state, content))
    })
  }

  /** Saves the previous state if the states differ. @param room bytes that may be added to the packs @returns whether they differ */
  note({ tree, path, state }: KeepRequest, room: number): boolean {
    return this.#change(tree, (turn) => {
      const content = state?.bytes && this.#save(state.bytes, room, tooMuch)
      const sql = 'SELECT * FROM kept WHERE tree = ? AND path = ? AND turn = ?'
      const before = this.#database.get<Row>(sql, tree, path, lasting) ?? rowOf(path, undefined, undefined)
      const now = rowOf(path, state, content)
      const isSame =
        before.type === now.type &&
        before.content === now.content &&
        before.target === now.target &&
        // without bytes, only versions distinguish files
        (now.type !== 'file' || now.content !== null || before.version === now.version)
      if (!isSame) this.#put('IGNORE', tree, turn, before)
      if (state !== undefined) this.#put('REPLACE', tree, lasting, now)
      else this.#database.run('DELETE FROM kept WHERE tree = ? AND path = ? AND turn = ?', tree, path, lasting)
      return !isSame
    })
  }

  #put(otherwise: 'IGNORE' | 'REPLACE', tree: number, turn: number, row: Row): void {
    const { path, type, size, mode, mtime, version, content, target } = row
    this.#database.run(
      `INSERT OR ${otherwise} INTO kept VALUES (?,?,?,?,?,?,?,?,?,?)`,
      ...[tree, turn, path, type, size, mode, mtime, version, content, target],
    )
  }

  #change<Result>(tree: number, work: (turn: number) => Result): Result {
    const turn = this.#turns.get(tree)
    if (turn === undefined) throw failed('ECLOSED', 'the workspace is closed', 'make a new one')
    const mark = this.#packs.mark()
    try {
      return this.#database.transaction(() => work(turn))
    } catch (error) {
      this.#packs.rollBack(mark)
      throw error
    }
  }

  /** The states at a turn, for all paths that changed after it. */
  since(tree: number, turn: number): KeptRow[] {
    const rows = this.#database.all<Row>(
      `SELECT * FROM kept AS one WHERE tree = ? AND turn < ${lasting} AND turn = (
         SELECT min(turn) FROM kept AS other WHERE other.tree = one.tree AND other.path = one.path AND other.turn >= ?)`,
      ...[tree, turn],
    )
    return rows.map(({ path, type, size, mode, mtime, version, content, target }) => ({
      path,
      state:
        type === null
          ? undefined
          : {
              ...{ type, size, version, mode: mode ?? undefined, modifiedAt: mtime ?? undefined },
              ...{ content: content ?? undefined, target: target ?? undefined },
            },
    }))
  }

  read(content: string): Uint8Array {
    return readSaved(this.#database, this.#packs, content)
  }

  #save(bytes: Uint8Array, room: number, refusal: () => Error): string {
    const content = contentOf(bytes)
    if (placeOf(this.#database, content) !== undefined) return content
    if (bytes.length > room) throw refusal()
    this.#packs.add(content, bytes)
    this.#packs.flush()
    return content
  }
}

function rowOf(path: string, state: KeepRequest['state'], content: string | undefined): Row {
  const { type = null, size = 0, mode = null, modifiedAt: mtime = null, version = '', target = null } = state ?? {}
  return { path, type, size, mode, mtime, version, content: content ?? null, target }
}

function withoutRoom(): Error {
  return failed(
    'EDQUOT',
    'its earlier state would need more than `maxBytes` of the checkpoints, and nothing was changed',
    'take a checkpoint, which lets older ones go, or raise `maxBytes`',
  )
}
