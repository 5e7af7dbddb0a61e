import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

import { failed, nativeFailure } from '../errors.ts'

/** Stands for the last turn of a state that still holds, and for the turn of the latest look. */
export const lasting = Number.MAX_SAFE_INTEGER

const checkpoints = {
  schema: `
  CREATE TABLE IF NOT EXISTS trees (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, turn INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS entries (
    tree INTEGER NOT NULL, path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    type INTEGER NOT NULL, size INTEGER NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL,
    mtime REAL NOT NULL, ctime REAL NOT NULL, ino TEXT NOT NULL, birth REAL NOT NULL,
    content TEXT, target TEXT, links TEXT, unsettled INTEGER NOT NULL,
    PRIMARY KEY (tree, path, first)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS entries_last ON entries (tree, last);
  CREATE INDEX IF NOT EXISTS entries_first ON entries (tree, first);
  CREATE TABLE IF NOT EXISTS unknown (tree INTEGER NOT NULL, path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (tree, path, first)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS kept (
    tree INTEGER NOT NULL, turn INTEGER NOT NULL, path TEXT NOT NULL, type TEXT, size INTEGER NOT NULL, mode INTEGER,
    mtime REAL, version TEXT NOT NULL, content TEXT, target TEXT, PRIMARY KEY (tree, path, turn)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS contents (
    content TEXT PRIMARY KEY, pack INTEGER NOT NULL, block INTEGER NOT NULL, length INTEGER NOT NULL,
    start INTEGER NOT NULL, size INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS checkpoints (
    id TEXT NOT NULL, tree INTEGER NOT NULL, turn INTEGER NOT NULL, label TEXT, created INTEGER NOT NULL,
    automatic INTEGER NOT NULL, PRIMARY KEY (id, tree)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS attributes (tree INTEGER NOT NULL, path TEXT NOT NULL, first INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (tree, path, first)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS loosened (tree INTEGER NOT NULL, path TEXT NOT NULL, mode INTEGER NOT NULL,
    PRIMARY KEY (tree, path)) WITHOUT ROWID;
`,
  version: 1,
}

export interface DatabaseOptions {
  /** Statements that make missing tables. */
  readonly schema: string
  /** Grows with changes that older versions cannot read. */
  readonly version: number
}

/** The index of a state directory, for one process: SQLite holds the lock, which the kernel drops with the process. */
export class Database {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  /** @param directory absent for an index in memory @throws WorkspaceError `EBUSY` if in use elsewhere, `EIO` if damaged */
  constructor(directory: string | undefined, { schema, version }: DatabaseOptions = checkpoints) {
    const path = directory === undefined ? ':memory:' : join(directory, 'index.db')
    try {
      if (directory !== undefined)
        closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600))
      this.#database = new DatabaseSync(path)
    } catch (error) {
      throw nativeFailure(error)
    }
    try {
      this.#database.exec(
        'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF',
      )
      this.#database.exec('BEGIN IMMEDIATE')
      const { user_version: found } = this.#database.prepare('PRAGMA user_version').get() as { user_version: number }
      if (found > version) throw failed('EINVAL', 'the state directory was written by a newer version of this package')
      this.#database.exec(`${schema}; PRAGMA user_version = ${version}; COMMIT`)
    } catch (error) {
      this.#database.close()
      throw nativeFailure(error)
    }
  }

  all<Row>(sql: string, ...values: readonly Value[]): Row[] {
    return this.#run(sql, (statement) => statement.all(...values) as Row[])
  }

  get<Row>(sql: string, ...values: readonly Value[]): Row | undefined {
    return this.#run(sql, (statement) => statement.get(...values) as Row | undefined)
  }

  run(sql: string, ...values: readonly Value[]): void {
    this.#run(sql, (statement) => statement.run(...values))
  }

  /** All or nothing, also for a process that is killed. */
  transaction<Result>(work: () => Result): Result {
    this.run('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      try {
        this.run('ROLLBACK')
      } catch {
        // SQLite has rolled back already: a full disk, for one
      }
      throw nativeFailure(error)
    }
  }

  close(): void {
    this.#database.close()
  }

  #run<Result>(sql: string, work: (statement: StatementSync) => Result): Result {
    try {
      let statement = this.#statements.get(sql)
      if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
      return work(statement)
    } catch (error) {
      throw nativeFailure(error)
    }
  }
}

export type Value = string | number | null
