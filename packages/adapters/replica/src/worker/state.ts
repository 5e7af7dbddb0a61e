import { randomBytes } from 'node:crypto'

import type { MountPath } from '@ws/core/adapter'
import { Database, entryColumns, factsOfRow, valuesOf } from '@ws/tree/disk'
import type { EntryRow, Facts } from '@ws/tree/disk'

import type { ReplicaConflict } from '../contract.ts'
import type { Base, Opened } from './protocol.ts'

const schema = `
  CREATE TABLE IF NOT EXISTS replica (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, store TEXT, hydrated INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS base (
    path TEXT PRIMARY KEY, type TEXT NOT NULL, version TEXT NOT NULL, content TEXT, target TEXT,
    size INTEGER NOT NULL, mode INTEGER NOT NULL, mtime REAL NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS seen (
    path TEXT PRIMARY KEY, type INTEGER NOT NULL, size INTEGER NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL,
    gid INTEGER NOT NULL, mtime REAL NOT NULL, ctime REAL NOT NULL, ino TEXT NOT NULL, birth REAL NOT NULL,
    content TEXT, target TEXT, links TEXT, unsettled INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS conflicts (kept TEXT PRIMARY KEY, path TEXT NOT NULL, time INTEGER NOT NULL, kind TEXT NOT NULL) WITHOUT ROWID;
`

interface BaseRow {
  readonly path: string
  readonly type: Facts['type']
  readonly version: string
  readonly content: string | null
  readonly target: string | null
  readonly size: number
  readonly mode: number
  readonly mtime: number
}

/** The agreed and last seen entries, and the conflicts. Every difference is pushed, so a crash loses no change. */
export class State {
  readonly #database: Database

  constructor(directory: string | undefined) {
    this.#database = new Database(directory, { schema, version: 1 })
    const id = randomBytes(9).toString('base64url')
    this.#database.run('INSERT OR IGNORE INTO replica VALUES (1, ?, NULL, 0)', id)
  }

  close(): void {
    this.#database.close()
  }

  open(): Omit<Opened, 'seen'> {
    const { id, store, hydrated } = this.#database.get<{ id: string; store: string | null; hydrated: number }>(
      'SELECT id, store, hydrated FROM replica',
    ) ?? { id: '', store: null, hydrated: 0 }
    return {
      id,
      store: store ?? undefined,
      isNew: hydrated === 0,
      base: this.#database.all<BaseRow>('SELECT * FROM base').map(({ content, target, ...row }) => ({
        ...row,
        content: content ?? undefined,
        target: target ?? undefined,
      })),
      conflicts: this.#database.all<ReplicaConflict>('SELECT kept, path, time, kind FROM conflicts ORDER BY time'),
    }
  }

  seen(): Map<string, Facts> {
    const rows = this.#database.all<EntryRow>('SELECT * FROM seen')
    return new Map(rows.map((row) => [row.path, factsOfRow(row)]))
  }

  adopt(store: string | undefined): void {
    this.#database.run('UPDATE replica SET store = ?, hydrated = 1', store ?? null)
  }

  note(changed: Iterable<readonly [string, Facts]>, gone: Iterable<string>): void {
    this.#database.transaction(() => {
      for (const path of gone) this.#database.run('DELETE FROM seen WHERE path = ?', path)
      for (const [path, facts] of changed) this.#write('seen', `path, ${entryColumns}`, [path, ...valuesOf(facts)])
    })
  }

  forget(): void {
    this.#database.transaction(() => {
      for (const table of ['seen', 'base']) this.#database.run(`DELETE FROM ${table}`)
    })
  }

  put(path: string, facts: Facts, version: string): void {
    this.#database.transaction(() => {
      this.#write('seen', `path, ${entryColumns}`, [path, ...valuesOf(facts)])
      this.#agree({ ...facts, content: facts.content, target: facts.target, path, version })
    })
  }

  agree(base: readonly Base[], gone: readonly string[]): void {
    this.#database.transaction(() => {
      for (const path of gone) this.#database.run('DELETE FROM base WHERE path = ?', path)
      for (const one of base) this.#agree(one)
    })
  }

  #agree({ path, type, version, content, target, size, mode, mtime }: Base): void {
    const values = [path, type, version, content ?? null, target ?? null, size, mode, mtime]
    this.#write('base', 'path, type, version, content, target, size, mode, mtime', values)
  }

  conflict({ kept, path, time, kind }: ReplicaConflict): void {
    this.#write('conflicts', 'kept, path, time, kind', [kept, path, time, kind])
  }

  settle(kept: readonly string[]): void {
    for (const path of kept) this.#database.run('DELETE FROM conflicts WHERE kept = ?', path as MountPath)
  }

  #write(table: string, columns: string, values: readonly (string | number | null)[]): void {
    const marks = values.map(() => '?').join(', ')
    this.#database.run(`INSERT OR REPLACE INTO ${table} (${columns}) VALUES (${marks})`, ...values)
  }
}
